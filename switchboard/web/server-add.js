// New servers: pasted, filled in, or imported from other programs.

import { get, post } from './api.js';
import { button, columns, fill, h, insert } from './dom.js';
import { openDialog, openForm } from './dialog.js';
import { FieldProblem, labelled, ticked } from './fields.js';
import { plain, plainLines } from './format.js';
import { act, failed, notice } from './notices.js';
import { tryOut } from './server-actions.js';
import { editServer } from './server-edit.js';
import { installServer } from './server-install.js';
import { text } from './text.js';

const EXAMPLE = `{
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] }
  }
}`;
/** The dialog for a new server. */
export function addServer(done) {
  const input = h('textarea', {
    class: 'mono',
    rows: 7,
    spellcheck: 'false',
    placeholder: EXAMPLE,
    autofocus: true,
  });
  const problems = h('div', { role: 'alert' });
  const other = h(
    'p',
    { class: 'quiet' },
    insert(
      text.add.other,
      textButton(text.add.fields, () => {
        dialog.close();
        editServer(null, done);
      }),
      textButton(text.add.imports, () => {
        dialog.close();
        importServers(done);
      }),
      textButton(text.add.installs, () => {
        dialog.close();
        installServer(done);
      }),
    ),
  );
  const field = labelled(text.add.label, input, text.add.help);
  const known = h('div', { class: 'known-servers' });
  const choices = h('div', { class: 'field', hidden: true }, h('p', { class: 'help' }, text.add.known), known);
  get('mcp-servers/known')
    .then(({ items }) => {
      const chip = ({ name, about, needs, paste }) =>
        button(
          name,
          () => {
            input.value = paste;
            input.focus();
          },
          { class: 'button small', title: [about, needs && text.add.needs(needs)].filter(Boolean).join(' · ') },
        );
      fill(known, items.map(chip));
      choices.hidden = false;
    })
    .catch(failed);
  const inPlainText = h('input', { type: 'checkbox' });
  const keeps = ticked(
    text.add.plain,
    inPlainText,
    text.add.plainHelp,
  );
  const dialog = openForm(
    text.add.title,
    [field, choices, keeps, problems, other],
    text.common.add,
    async () => {
      fill(problems);
      if (!input.value.trim()) throw new FieldProblem(input, text.add.nothing);
      const said = { paste: input.value, plainValues: inPlainText.checked };
      const { items, problems: wrong = [] } = await post('mcp-servers', said);
      fill(
        problems,
        wrong.map(({ name, message }) =>
          h('p', { class: 'problem' }, plainLines(name ? `${name}: ${message}` : message)),
        ),
      );
      if (items.length)
        notice(items.length === 1 ? text.add.added(plain(items[0].name)) : text.add.addedMany(items.length));
      await done();
      // They are tried one beside the other; the page shows each as it goes.
      for (const server of items) tryOut(server).catch(failed);
      return wrong.length === 0;
    },
    { wide: true },
  );
}

function textButton(label, onclick) {
  return h('button', { type: 'button', class: 'link', onclick }, label);
}

/** Lists the servers of other programs on this machine, and imports the chosen ones. */
export async function importServers(done) {
  const place = h('div', {}, h('p', { class: 'quiet' }, text.imports.searching));
  const dialog = openDialog(text.imports.title, place, { wide: true });
  let preview;
  try {
    preview = await post('mcp-servers/import', { apply: false });
  } catch (error) {
    dialog.close();
    failed(error);
    return;
  }
  const rows = preview.items ?? [];
  if (!rows.length) {
    fill(place, h('p', {}, text.imports.none), problemList(preview));
    return;
  }
  const boxes = new Map();
  /** Of several with one name, one can be taken. */
  const only = (row, box) => {
    for (const [other, it] of boxes) if (box.checked && it !== box && other.name === row.name) it.checked = false;
  };
  const lines = rows.map((row) => {
    const takeable = row.state !== 'same';
    const box = h('input', {
      type: 'checkbox',
      checked: takeable && row.state !== 'conflict',
      disabled: !takeable,
      'aria-label': text.imports.takeOne(plain(row.name)),
      onchange: () => only(row, box),
    });
    if (takeable) boxes.set(row, box);
    const note = plainLines(row.problem);
    return h(
      'tr',
      {},
      h('td', {}, box),
      h('td', {}, plain(row.name)),
      h('td', { class: 'mono whole-line' }, plain(row.what)),
      h('td', { class: 'quiet whole-line' }, plain(row.source)),
      h('td', {}, text.imports.states[row.state] ?? row.state, note && h('p', { class: 'quiet small' }, note)),
    );
  });
  const t = text.imports;
  const head = columns([`[${t.take}]`, text.common.name, t.what, t.from, `[${t.state}]`]);
  const inPlainText = h('input', { type: 'checkbox' });
  const trouble = h('div', { role: 'alert' });
  const take = button(
    t.take,
    () =>
      act(take, async () => {
        const chosen = [...boxes].filter(([, box]) => box.checked);
        const servers = chosen.map(([{ name, source }]) => ({ name, source }));
        const wanted = { apply: true, servers, plainValues: inPlainText.checked };
        const { imported, problems } = await post('mcp-servers/import', wanted);
        if (imported.length)
          notice(t.done(imported.length));
        await done();
        const known = new Set(preview.problems.map(({ message }) => message));
        const refused = problems.filter(({ message }) => !known.has(message));
        fill(trouble, problemList({ problems: refused }));
        if (!refused.length) dialog.close();
        for (const server of imported) tryOut(server).catch(failed);
      }),
    { class: 'button primary' },
  );
  take.disabled = boxes.size === 0;
  const cancel = button(text.common.cancel, () => dialog.close());
  fill(
    place,
    h('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': t.title }, h('table', { class: 'rows' }, h('thead', {}, head), h('tbody', {}, lines))),
    problemList(preview),
    ticked(
      t.plain,
      inPlainText,
      t.plainHelp,
    ),
    trouble,
    h('div', { class: 'buttons end' }, cancel, take),
  );
  // Nothing was chosen yet.
  dialog.dispatchEvent(new Event('kept'));
}

function problemList({ problems = [] }) {
  return (
    problems.length > 0 &&
    h(
      'ul',
      { class: 'findings' },
      problems.map((it) =>
        h(
          'li',
          { class: 'problem' },
          plainLines([it.name ?? it.source, it.message].filter(Boolean).join(': ')),
        ),
      ),
    )
  );
}
