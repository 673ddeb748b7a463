// The fields of a server, new or old.

import { post, put } from './api.js';
import { button, fresh, h } from './dom.js';
import { testServer, tryOut } from './server-actions.js';
import { openForm } from './dialog.js';
import { sandboxFields } from './sandbox.js';
import { FieldProblem, describe, labelled, numberIn, problemPlace, select, textIn, ticked } from './fields.js';
import { plain, pretty } from './format.js';
import { text } from './text.js';

const t = text.edit;

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
  const type = select(Object.entries(t.kinds), old.type);
  const command = line(old.command);
  const args = h('textarea', { class: 'mono', rows: 3, spellcheck: 'false' });
  // Lines cannot show every argument.
  const asJson = (old.args ?? []).some((it) => it === '' || plain(it) !== it);
  args.value = asJson ? pretty(old.args) : (old.args ?? []).join('\n');
  const cwd = line(old.cwd);
  const env = new Pairs(t.variable, 'env', old.env ?? {});
  const url = line(old.baseUrl, { inputmode: 'url', placeholder: 'https://example.com/mcp' });
  const headers = new Pairs(t.header, 'header', old.headers ?? {});
  const timeout = line(old.timeout, { inputmode: 'numeric' });
  const parallel = tick(old.parallel);
  const always = tick(old.alwaysLoad);
  const trusted = tick(old.trust === 'trusted');
  const policy = select(Object.entries(t.policies), old.envPolicy);
  const inPlainText = tick(old.plainValues);
  const sandbox = sandboxFields(old.sandbox);
  const local = h(
    'div',
    { class: 'fields' },
    labelled(t.program, command),
    labelled(asJson ? t.argsJson : t.args, args),
    labelled(t.folder, cwd, t.folderHelp),
    pairField(t.environment, env),
    labelled(t.inherits, policy),
    sandbox.element,
  );
  const remote = h('div', { class: 'fields' }, labelled(t.address, url), pairField(t.headers, headers));
  const show = () => {
    local.hidden = type.value !== 'stdio';
    remote.hidden = type.value === 'stdio';
  };
  type.addEventListener('change', show);
  show();
  const more = h(
    'details',
    { class: 'more' },
    h('summary', {}, t.more),
    h(
      'div',
      { class: 'fields' },
      labelled(t.timeout, timeout),
      ticked(t.parallel, parallel),
      ticked(t.always, always),
      ticked(t.trust, trusted, t.trustHelp),
      ticked(t.plain, inPlainText, t.plainHelp),
    ),
  );
  const named = { name, type, command, cwd, timeout, baseUrl: url, sandbox: sandbox.control };
  const found = h('div', { class: 'found', role: 'status' });
  const test = h('button', { type: 'submit', class: 'button' }, h('span', {}, t.saveAndTest));
  let saved = server;
  const dialog = openForm(
    server ? text.common.editTitle(plain(server.name)) : t.title,
    [labelled(text.common.name, name), labelled(t.kind, type), local, remote, more, found],
    text.common.save,
    async (used) => {
      const fields = {
        name: textIn(name, text.common.name),
        type: type.value,
        timeout: numberIn(timeout, t.timeoutName, { whole: true }),
        parallel: parallel.checked,
        alwaysLoad: always.checked,
      };
      // Saving must not approve a server that may not start yet.
      if (old.trust !== 'pending') fields.trust = trusted.checked ? 'trusted' : 'allowed';
      if (type.value === 'stdio') {
        Object.assign(fields, {
          command: needed(command, t.program),
          args: asJson ? textsIn(args) : args.value.split('\n').filter((line) => line !== ''),
          cwd: textOf(cwd) || null,
          env: env.values(),
          envPolicy: policy.value,
          sandbox: sandbox.value(),
        });
      } else {
        Object.assign(fields, { baseUrl: needed(url, t.address), headers: headers.values() });
      }
      const before = saved;
      const same = (member) => JSON.stringify(fields[member]) === JSON.stringify(before?.[member]);
      for (const member of Object.keys(fields)) if (before && same(member)) delete fields[member];
      if (inPlainText.checked) fields.plainValues = true;
      if (!before) saved = await post('mcp-servers', fields);
      else if (Object.keys(fields).length) saved = await put(`mcp-servers/${before.id}`, fields);
      dialog.dispatchEvent(new Event('kept'));
      if (used === test) {
        await done(saved);
        saved = await testServer(saved, found);
        found.scrollIntoView({ block: 'nearest' });
      } else if (!before) {
        saved = await tryOut(saved);
      }
      await done(saved);
      return used !== test;
    },
    { wide: true, other: test, controls: (member) => named[member] ?? env.control(member) ?? headers.control(member) },
  );
}

/** An input; what it cannot show, such as a line's end, is kept as long as it is not changed. */
function line(value, props = {}) {
  const input = h('input', { type: 'text', value: value ?? '', spellcheck: 'false', autocomplete: 'off', ...props });
  kept.set(input, { value: value ?? '', shown: input.value });
  return input;
}

const kept = new WeakMap();

function textOf(input) {
  const { value, shown } = kept.get(input);
  return input.value === shown ? value : input.value.trim();
}

function needed(input, label) {
  return textOf(input) || textIn(input, label);
}

/** The texts of a JSON list. */
function textsIn(control) {
  try {
    const found = JSON.parse(control.value);
    if (Array.isArray(found) && found.every((it) => typeof it === 'string')) return found;
  } catch {
    // It is said below.
  }
  throw new FieldProblem(control, t.argsNotJson);
}

function tick(value) {
  return h('input', { type: 'checkbox', checked: value === true });
}

function pairField(label, pairs) {
  return h('fieldset', { class: 'field' }, h('legend', {}, label), pairs.element);
}

/** Names with values. Values that are kept elsewhere are shown as references. */
class Pairs {
  constructor(words, kind, values) {
    this.words = words;
    this.kind = kind;
    this.list = h('div', { class: 'pairs' });
    for (const [key, value] of Object.entries(values)) this.add(key, value);
    this.element = h(
      'div',
      {},
      this.list,
      button(words.add, () => this.add('', '').focus(), { class: 'button small', icon: 'add' }),
    );
  }

  add(key, value) {
    const name = line(key, { 'aria-label': this.words.name, placeholder: text.common.name });
    const held = line(value, {
      'aria-label': this.words.value(key),
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
      button(text.common.remove, () => row.remove(), {
        class: 'button small',
        'aria-label': this.words.remove(key),
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
      const key = textOf(name);
      if (!key && !held.value) continue;
      if (!key) throw new FieldProblem(name, this.words.nameless);
      if (given.has(key)) throw new FieldProblem(name, this.words.twice(key));
      given.set(key, held.value === kept.get(held).shown ? kept.get(held).value : held.value);
    }
    return Object.fromEntries(given);
  }
}
