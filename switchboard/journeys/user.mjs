// A user of this machine: an empty home, the program as it was built, and nothing else set.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../browser/browser.mjs';
import { Program, kept } from '../browser/program.mjs';

export class User extends Program {
  static async arrive() {
    const user = new User();
    user.folder = await mkdtemp(join(tmpdir(), 'switchboard-journey-'));
    user.documents = join(user.folder, 'Documents');
    await mkdir(user.documents);
    user.port = 0;
    user.errors = '';
    process.once('exit', () => user.child?.kill('SIGKILL'));
    return user;
  }

  /** As at a login: no key, no setting. An Ollama of the machine's would be used as a model. */
  environment() {
    const { DATABASE } = process.env;
    const database = DATABASE ? { SWITCHBOARD_DATABASE: DATABASE } : {};
    return { ...kept(['LANG', 'PATH', 'TMPDIR']), ...database, HOME: this.folder, OLLAMA_HOST: '127.0.0.1:9' };
  }

  /** Starts `serve`, on the port it had before. */
  async begin() {
    await this.serve(['serve', '--json', '--port', String(this.port)]);
  }

  /** Ends `serve` as Ctrl-C does, and sees that it ends well. */
  async stop() {
    this.child.kill('SIGINT');
    const [code] = await this.ended;
    assert.equal(code, 0, `serve ended with ${code}: ${this.errors}`);
  }

  /** Runs a verb, and returns what it printed. */
  async run(...args) {
    const options = { env: this.environment(), cwd: this.folder };
    const { stdout } = await promisify(execFile)(process.env.SWITCHBOARD, args, options);
    return stdout;
  }

  /** The processes of this user: they have this home, or a file of it in their command. */
  async processes() {
    const found = [];
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const read = (file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
      const [environment, command] = [await read('environ'), await read('cmdline')];
      const ours = environment.split('\0').includes(`HOME=${this.folder}`) || command.includes(this.folder);
      if (ours) found.push({ pid: Number(pid), command: command.split('\0').join(' ').trim() });
    }
    return found;
  }

  /** Nothing of this user's runs. */
  async nothingRuns() {
    assert.deepEqual(await this.processes(), [], 'processes are left');
  }

  /** None of these processes runs any more. */
  async gone(processes) {
    const pids = processes.map(({ pid }) => pid);
    const left = async () => (await this.processes()).filter(({ pid }) => pids.includes(pid));
    await until(async () => (await left()).length === 0, 'the end of what was left by kill -9');
  }

  /** A file of the user's documents; null if there is none. */
  async document(name) {
    return readFile(join(this.documents, name)).catch(() => null);
  }

  async leave() {
    await rm(this.folder, { recursive: true, force: true });
  }
}
