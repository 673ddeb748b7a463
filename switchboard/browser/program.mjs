// The program under test: `switchboard serve` with a folder of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A fresh home for the program; `end()` takes everything away. */
export class Program {
  static async start({ env = {}, args = [], port = 0 } = {}) {
    const program = new this();
    program.folder = await mkdtemp(join(tmpdir(), 'switchboard-browser-'));
    program.env = env;
    program.args = args;
    program.port = port;
    // Its servers find it by name, as those of a user do.
    await mkdir(join(program.folder, 'bin'));
    await symlink(process.env.SWITCHBOARD, join(program.folder, 'bin', 'switchboard'));
    // Whatever becomes of the tests, it does not outlive them.
    process.once('exit', () => program.child?.kill('SIGKILL'));
    await program.begin();
    return program;
  }

  /** The environment it is started in. */
  environment() {
    const { folder } = this;
    return {
      ...kept(['LANG', 'TMPDIR']),
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, 'config'),
      SWITCHBOARD_HOME: folder,
      SWITCHBOARD_KEYRING: 'off',
      ...this.env,
    };
  }

  /** Starts it, on the port it had before. */
  async begin() {
    const database = ['--database', join(this.folder, 'test.db')];
    await this.serve(['--json', ...database, 'serve', '--port', String(this.port), ...this.args]);
  }

  /** Starts `switchboard serve` with these arguments, and returns once it is ready. */
  async serve(args) {
    this.child = spawn(process.env.SWITCHBOARD, args, {
      env: this.environment(),
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.ended = once(this.child, 'exit');
    this.errors = '';
    this.child.stderr.on('data', (bytes) => {
      this.errors += bytes;
    });
    const [line] = await Promise.race([
      once(createInterface({ input: this.child.stdout }), 'line'),
      this.ended.then(() => [null]),
    ]);
    if (line === null) throw new Error(`switchboard serve ended: ${this.errors}`);
    const ready = JSON.parse(line);
    this.url = ready.url.replace(/\/$/, '');
    // A team's users have no links: they log in.
    this.links = ready.links;
    this.link = ready.links[0]?.url ?? ready.url;
    this.token = /token=(.+)$/.exec(this.link)?.[1] ?? null;
    this.port = Number(new URL(this.url).port);
  }

  /** A request to the API, with the token. */
  async api(method, path, body) {
    const options = { method, headers: { Authorization: `Bearer ${this.token}` } };
    if (body !== undefined) {
      options.headers['Content-Type'] = 'application/json';
      options.body = JSON.stringify(body);
    }
    const response = await fetch(`${this.url}/api/${path}`, options);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** As `kill -9`. */
  async kill() {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  async end() {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM');
      await this.ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Those of our own environment variables that are set. */
export function kept(names) {
  const set = names.filter((name) => name in process.env);
  return Object.fromEntries(set.map((name) => [name, process.env[name]]));
}
