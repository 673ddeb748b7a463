// What is there besides the program: servers by package name, one of them behind HTTP, and a provider.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** How a server that was installed from npm is started. */
export function command(name, ...args) {
  const script = join(process.env.SERVERS, '@modelcontextprotocol', `server-${name}`, 'dist/index.js');
  return ['node', script, ...args];
}

/** Processes to end when all is over. */
const started = [];
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

function start([program, ...args], env = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  child.log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes) => {
      child.log = (child.log + bytes).slice(-20_000);
    });
  started.push(child);
  return child;
}

/** The first line of a stream that fits; null if the process ends without it. */
async function line(child, stream, pattern) {
  const lines = createInterface({ input: stream });
  const found = new Promise((resolve) => {
    lines.on('line', (text) => pattern.test(text) && resolve(text));
  });
  return Promise.race([found, once(child, 'exit').then(() => null)]);
}

/** `server-everything` behind HTTP. Another program may take the free port first: then another is tried. */
export async function everythingOverHttp() {
  for (let tries = 0; tries < 5; tries += 1) {
    const port = await freePort();
    const child = start(command('everything', 'streamableHttp'), { PORT: String(port) });
    if (await line(child, child.stderr, /on port \d+$/)) return { child, url: `http://127.0.0.1:${port}/mcp` };
  }
  throw new Error('server-everything does not listen');
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A provider whose model plays these rules. */
export async function provider(folder, rules) {
  const script = join(folder, 'provider.json');
  await writeFile(script, JSON.stringify({ rules }));
  const child = start([process.env.SWITCHBOARD, '--json', 'demo-model', '--script', script]);
  const reported = await line(child, child.stdout, /^\{/);
  if (reported === null) throw new Error(`demo-model ended: ${child.log}`);
  return { child, url: JSON.parse(reported).urls['openai-chat'] };
}
