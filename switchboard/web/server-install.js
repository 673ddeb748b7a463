// Servers from the registry, from a package, a bundle or a server.json: shown first, then installed;
// and their updates.

import { post } from './api.js';
import { openForm } from './dialog.js';
import { fill, h, say } from './dom.js';
import { FieldProblem, labelled, select, ticked } from './fields.js';
import { failed, notice } from './notices.js';
import { sandboxLines } from './sandbox.js';
import { tryOut } from './server-actions.js';
import { text } from './text.js';

const t = text.install;

/** The dialog for a server to install. */
export function installServer(done) {
  const what = h('input', { class: 'mono', spellcheck: 'false', placeholder: 'com.example/weather', autofocus: true });
  const file = h('input', { type: 'file', accept: '.mcpb,.dxt,.json' });
  const fields = [labelled(t.what, what, t.whatHelp), labelled(t.file, file, t.fileHelp)];
  const source = async () => {
    const [chosen] = file.files;
    if (chosen?.name.endsWith('.json')) return { serverJson: await chosen.text() };
    if (chosen) return { bundle: await base64(chosen) };
    if (!what.value.trim()) throw new FieldProblem(what, t.nothing);
    return { what: what.value.trim() };
  };
  stages(t.title, t.apply, fields, source, 'mcp-servers/install', async ({ server }) => {
    notice(t.done(server.name));
    await done();
    tryOut(server).catch(failed);
  });
}

/** Looks for an update of an installed server, and shows what it changes. */
export async function updateServer(server, done) {
  const path = `mcp-servers/${server.id}/update`;
  const found = await post(path);
  if (found.state !== 'outdated') return notice(t.states[found.state] ?? found.state);
  return stages(t.updateTitle(server.name), t.update, [], async () => ({}), path, async ({ server: now }) => {
    notice(t.updated(now.name));
    await done(now);
  });
}

/** A form whose first answer shows what would be done, and whose second one does it. */
function stages(title, label, fields, source, path, finish) {
  const asked = h('div', { class: 'fields' });
  const shown = h('div', { role: 'status' });
  const plain = h('input', { type: 'checkbox' });
  let questions = [];
  let agreed = null;
  const dialog = openForm(
    title,
    [...fields, asked, ticked(text.add.plain, plain, text.imports.plainHelp), shown],
    t.show,
    async () => {
      const inputs = {};
      for (const { id, values } of questions) if (values().length) inputs[id] = values();
      const wanted = { ...(await source()), inputs, plainValues: plain.checked };
      // What is done is what was shown.
      const apply = agreed === JSON.stringify(wanted);
      const found = await post(path, { ...wanted, apply });
      if (apply) {
        await finish(found);
        return true;
      }
      questions = ask(asked, found.asks, questions);
      fill(shown, found.plan ? planned(found) : h('p', { class: 'hint' }, found.problem));
      agreed = found.plan && JSON.stringify(wanted);
      say(dialog.querySelector('button[type=submit] span'), found.plan ? label : t.show);
      return false;
    },
    { wide: true, controls: (member) => questions.find(({ id }) => member === `inputs.${id}`)?.control },
  );
}

/** A field for each input; those that are there already keep what was filled in. */
function ask(place, asks, before) {
  const questions = asks.map((it) => before.find(({ id }) => id === it.id) ?? question(it));
  fill(place, questions.map(({ field }) => field));
  return questions;
}

function question({ id, text: about, kind, required, multiple, secret, options, defaults }) {
  const choices = options ?? (kind === 'boolean' ? ['true', 'false'] : null);
  const control = multiple
    ? h('textarea', { class: 'mono', rows: 2, spellcheck: 'false' })
    : choices
      ? select([['', ''], ...choices.map((it) => [it, it])], '')
      : h('input', { type: secret ? 'password' : 'text', autocomplete: 'off', spellcheck: 'false' });
  control.value = defaults.join('\n');
  const help = [about, t.kinds[kind], multiple && t.multiple].filter(Boolean).join(' · ');
  const field = labelled(required ? t.needed(id) : id, control, help);
  const values = () => (multiple ? control.value.split('\n') : [control.value]).map((it) => it.trim()).filter(Boolean);
  return { id, field, control, values };
}

/** All that would be done. */
function planned({ plan, changes }) {
  const facts = [
    [t.command, plan.command],
    ...Object.entries(plan.values).map(([name, value]) => [t.given, `${name}=${value}`]),
    plan.files && [t.files, t.unpacks(plan.files.count, plan.files.folder)],
    plan.tools?.length && [t.tools, plan.tools.join(', ')],
  ];
  return [
    h('p', {}, h('b', {}, plan.name), ` ${plan.from.version ?? ''} `, h('span', { class: 'quiet' }, plan.description ?? '')),
    changes.map(({ what, before, after }) =>
      h('p', {}, `${t.whats[what]}: `, h('del', { class: 'mono' }, before), ' → ', h('ins', { class: 'mono' }, after)),
    ),
    facts.filter(Boolean).map(([name, value]) => h('p', {}, `${name}: `, h('span', { class: 'mono' }, value))),
    sandboxLines(plan) ?? (plan.from.kind.includes('-') ? null : h('p', { class: 'hint' }, t.uncontained)),
    plan.notes.map((note) => h('p', { class: 'quiet small' }, note)),
  ];
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const parts = [];
  for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(''));
}
