// The fields of a server, new or old.

import { post, put } from './api.js';
import { button, fresh, h } from './dom.js';
import { tryOut } from './server-actions.js';
import { openForm } from './dialog.js';
import { FieldProblem, describe, labelled, numberIn, problemPlace, select, textIn, ticked } from './fields.js';

const KINDS = [
  ['stdio', 'A program on this machine'],
  ['streamableHttp', 'A URL (Streamable HTTP)'],
  ['sse', 'A URL (HTTP+SSE, older)'],
  ['auto', 'A URL, detect the transport'],
];

/** The dialog; `done(server)` gets what was saved. Without a server it makes one. */
export function editServer(server, done) {
  const old = server ?? { type: 'stdio', args: [], env: {}, headers: {}, envPolicy: 'safe' };
  const name = h('input', {
    type: 'text',
    value: old.name ?? '',
    maxlength: 64,
    autocomplete: 'off',
    required: true,
  });
  const type = select(KINDS, old.type);
  const command = text(old.command);
  const args = h('textarea', { class: 'mono', rows: 3, spellcheck: 'false' });
  args.value = (old.args ?? []).join('\n');
  const cwd = text(old.cwd);
  const env = new Pairs('variable', 'env', old.env ?? {});
  const url = text(old.baseUrl, { inputmode: 'url', placeholder: 'https://example.com/mcp' });
  const headers = new Pairs('header', 'header', old.headers ?? {});
  const timeout = text(old.timeout, { inputmode: 'numeric' });
  const parallel = tick(old.parallel);
  const always = tick(old.alwaysLoad);
  const trusted = tick(old.trust === 'trusted');
  const policy = select(
    [
      ['safe', 'The basics (PATH, HOME, …)'],
      ['inherit', 'All of it'],
      ['none', 'Nothing'],
    ],
    old.envPolicy,
  );
  const plain = tick(old.plainValues);
  const local = h(
    'div',
    { class: 'fields' },
    labelled('Program', command),
    labelled('Arguments, one per line', args),
    labelled('Folder', cwd, 'Working directory; empty: Switchboard’s.'),
    pairField('Environment', env),
    labelled('Inherits from Switchboard’s environment', policy),
  );
  const remote = h('div', { class: 'fields' }, labelled('Address', url), pairField('Headers', headers));
  const show = () => {
    local.hidden = type.value !== 'stdio';
    remote.hidden = type.value === 'stdio';
  };
  type.addEventListener('change', show);
  show();
  const more = h(
    'details',
    { class: 'more' },
    h('summary', {}, 'More'),
    h(
      'div',
      { class: 'fields' },
      labelled('Idle timeout of a call, in seconds', timeout),
      ticked('Accepts parallel calls', parallel),
      ticked('Always list its tools', always),
      ticked(
        'Trust its tool annotations',
        trusted,
        'Its read-only tools then run without asking, unless the mode is to ask for every call.',
      ),
      ticked(
        'Keep secrets typed here in plain text',
        plain,
        'Otherwise write env:NAME, and the value is read from the environment.',
      ),
    ),
  );
  const named = { name, type, command, cwd, timeout, baseUrl: url };
  openForm(
    server ? `Edit ${server.name}` : 'New server',
    [labelled('Name', name), labelled('What it is', type), local, remote, more],
    'Save',
    async () => {
      const fields = {
        name: textIn(name, 'Name'),
        type: type.value,
        timeout: numberIn(timeout, 'Idle timeout', { whole: true }),
        parallel: parallel.checked,
        alwaysLoad: always.checked,
        plainValues: plain.checked,
      };
      // Saving must not approve a server that may not start yet.
      if (old.trust !== 'pending') fields.trust = trusted.checked ? 'trusted' : 'allowed';
      if (type.value === 'stdio') {
        Object.assign(fields, {
          command: textIn(command, 'Program'),
          args: args.value.split('\n').filter((line) => line !== ''),
          cwd: cwd.value.trim() || null,
          env: env.values(),
          envPolicy: policy.value,
        });
      } else {
        Object.assign(fields, { baseUrl: textIn(url, 'Address'), headers: headers.values() });
      }
      const saved = server
        ? await put(`mcp-servers/${server.id}`, fields)
        : await tryOut(await post('mcp-servers', fields));
      await done(saved);
    },
    { wide: true, controls: (member) => named[member] ?? env.control(member) ?? headers.control(member) },
  );
}

function text(value, props = {}) {
  return h('input', { type: 'text', value: value ?? '', spellcheck: 'false', autocomplete: 'off', ...props });
}

function tick(value) {
  return h('input', { type: 'checkbox', checked: value === true });
}

function pairField(label, pairs) {
  return h('fieldset', { class: 'field' }, h('legend', {}, label), pairs.element);
}

/** Names with values. Values that are kept elsewhere are shown as references. */
class Pairs {
  constructor(what, kind, values) {
    this.what = what;
    this.kind = kind;
    this.list = h('div', { class: 'pairs' });
    for (const [key, value] of Object.entries(values)) this.add(key, value);
    this.element = h(
      'div',
      {},
      this.list,
      button(`Add ${what}`, () => this.add('', '').focus(), { class: 'button small', icon: 'add' }),
    );
  }

  add(key, value) {
    const name = text(key, { 'aria-label': `Name of the ${this.what}`, placeholder: 'Name' });
    const held = text(value, {
      'aria-label': `Value of ${key || `the ${this.what}`}`,
      placeholder: 'env:NAME',
    });
    name.id = fresh('pair');
    const problem = problemPlace(name.id);
    describe(name, problem.id);
    const row = h(
      'div',
      { class: 'pair' },
      name,
      held,
      button('Remove', () => row.remove(), {
        class: 'button small',
        'aria-label': `Remove ${key || this.what}`,
      }),
      problem,
    );
    this.list.append(row);
    return name;
  }

  /** The control of a pair by the API's name for it, as in `env/KEY`. */
  control(member) {
    const [kind, name] = String(member).split(/\/(.*)/s);
    if (kind !== this.kind) return undefined;
    const names = [...this.list.children].map((row) => row.querySelector('input'));
    return names.find(({ value }) => value.trim() === name);
  }

  values() {
    const rows = [...this.list.children].map((row) => [...row.querySelectorAll('input')]);
    const given = new Map();
    for (const [name, held] of rows) {
      const key = name.value.trim();
      if (!key && !held.value) continue;
      if (!key) throw new FieldProblem(name, `The ${this.what} needs a name.`);
      if (given.has(key)) throw new FieldProblem(name, `There is another ${this.what} ${key}.`);
      given.set(key, held.value);
    }
    return Object.fromEntries(given);
  }
}
