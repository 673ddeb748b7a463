// The gateway: what runs, a call that waits for its answer here, and what was called.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { picture, quit, scene, until } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
await program.api('POST', 'mcp-servers', { name: 'demo', command: 'switchboard', args: ['demo-server'] });
after(async () => {
  await quit();
  await program.end();
});

/** A client that cannot be asked anything, and the gateway it has started. */
class Client {
  constructor() {
    const args = ['--database', join(program.folder, 'test.db'), 'gateway', '--approve', 'ask'];
    this.child = spawn(process.env.SWITCHBOARD, args, {
      env: program.environment(),
      cwd: program.folder,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    process.once('exit', () => this.child.kill('SIGKILL'));
    this.answers = new Map();
    this.last = 0;
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.answers.get(message.id)?.(message);
    });
  }

  request(method, params = {}) {
    this.last += 1;
    const id = this.last;
    const answer = new Promise((resolve) => {
      this.answers.set(id, resolve);
    });
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  async begin() {
    const clientInfo = { name: 'deaf-client', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return this;
  }

  async end() {
    const ended = once(this.child, 'exit');
    this.child.stdin.end();
    await ended;
  }
}

const SCREENS = { light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' } };
for (const [screen, options] of Object.entries(SCREENS)) {
  scene(
    program,
    `a call whose client cannot be asked is answered on the page, and recorded (${screen})`,
    options,
    async (visitor) => {
      const page = await visitor.open('gateway');
      await page.getByText('No gateway runs').waitFor();
      const client = await new Client().begin();
      await page.getByText('demo: connected').waitFor();
      const allowed = client.request('tools/call', { name: 'demo__echo', arguments: { text: 'hi there' } });
      await page.getByRole('heading', { name: 'deaf-client wants to call echo of demo' }).waitFor();
      await page.getByText('{"text":"hi there"}').waitFor();
      await picture(page, `gateway-waiting-${screen}`);
      await page.getByRole('button', { name: 'Run echo of demo once' }).click();
      const { result } = await allowed;
      assert.equal(result.content[0].text, 'hi there');
      const denied = client.request('tools/call', { name: 'demo__echo', arguments: { text: 'no' } });
      await page.getByRole('button', { name: 'Do not run echo of demo' }).click();
      assert.match((await denied).result.content[0].text, /declined/);
      const rows = page.getByRole('row').filter({ hasText: 'demo/echo' });
      await rows.filter({ hasText: 'approved' }).filter({ hasText: 'succeeded' }).first().waitFor();
      await rows.filter({ hasText: 'declined' }).first().waitFor();
      await picture(page, `gateway-${screen}`);
      await page.getByRole('searchbox', { name: 'Search the audit log' }).fill('declined');
      await until(async () => (await rows.filter({ hasText: 'approved' }).count()) === 0, 'the search');
      await page.getByText('switchboard gateway install claude-desktop').waitFor();
      await client.end();
      await page.getByText('No gateway runs').waitFor();
    },
  );
}
