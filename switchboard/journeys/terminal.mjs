// A person at a terminal: types, and waits for what is shown.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const BRIDGE = fileURLToPath(new URL('pseudo_terminal.py', import.meta.url));
const SIZE = ['120', '40'];
/** Longer than anything takes on a busy machine. */
const TEST_TIMEOUT = 60_000;

const ORDERS = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][0-9A-B]|[=>78M])/g;

export class Terminal {
  /** Starts the program in a terminal. */
  static async open(user, ...args) {
    const terminal = new Terminal();
    terminal.title = `switchboard ${args.join(' ')}`;
    terminal.raw = '';
    terminal.seen = 0;
    // Python has our environment, the program its user's.
    const variables = Object.entries({ ...user.environment(), TERM: 'xterm-256color' });
    const alone = ['env', '-i', ...variables.map(([name, value]) => `${name}=${value}`)];
    terminal.child = spawn('python3', [BRIDGE, ...SIZE, ...alone, process.env.SWITCHBOARD, ...args], {
      cwd: user.folder,
    });
    terminal.open = true;
    terminal.ended = once(terminal.child, 'close').then(([code]) => {
      terminal.open = false;
      return code;
    });
    terminal.child.stdout.setEncoding('utf8');
    terminal.child.stdout.on('data', (text) => {
      terminal.raw += text;
    });
    const [first] = await once(createInterface({ input: terminal.child.stderr }), 'line');
    terminal.pid = Number(first);
    if (!terminal.pid) throw new Error(`no pseudo-terminal: ${first}`);
    Terminal.all.push(terminal);
    return terminal;
  }

  /** All text that was shown, without what a terminal obeys; a line drawn anew is a new line. */
  text() {
    return this.raw.replace(ORDERS, '').replace(/\r+\n?/g, '\n');
  }

  /** What was shown since it was last looked at. */
  fresh() {
    return this.text().slice(this.seen);
  }

  /** Waits until this is shown, after what was waited for before. */
  async see(wanted) {
    const pattern = typeof wanted === 'string' ? new RegExp(escape(wanted)) : wanted;
    const timer = AbortSignal.timeout(TEST_TIMEOUT);
    for (;;) {
      const found = pattern.exec(this.fresh());
      if (found) {
        this.seen += found.index + found[0].length;
        return found;
      }
      if (!this.open) throw new Error(`ended without showing ${pattern}`);
      try {
        await Promise.race([once(this.child.stdout, 'data', { signal: timer }), this.ended]);
      } catch {
        throw new Error(`never shown: ${pattern}`);
      }
    }
  }

  /** Waits for the prompt of the chat. */
  async prompt() {
    await this.see(/(?:^|\n)> \n*$/);
  }

  type(keys) {
    this.child.stdin.write(keys);
  }

  /** Types a line and Enter. */
  enter(line) {
    this.type(`${line}\r`);
  }

  /** Waits until the program has ended; its exit code. */
  async end() {
    const code = await this.ended;
    Terminal.all.splice(Terminal.all.indexOf(this), 1);
    return code;
  }

  /** As a click on the window's cross. */
  async close() {
    this.child.stdin.end();
    return this.end();
  }

  /** As `kill -9`. */
  async kill() {
    process.kill(this.pid, 'SIGKILL');
    return this.end();
  }

  /** The last lines, for whoever looks why something failed. */
  screen(lines = 40) {
    return this.text().split('\n').slice(-lines).join('\n');
  }
}

/** The terminals that are open; none outlives us. */
Terminal.all = [];
process.once('exit', () => {
  for (const { child } of Terminal.all) child.kill('SIGKILL');
});

function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
