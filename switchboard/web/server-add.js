// New servers: pasted, filled in, or imported from other programs.

import { post } from './api.js';
import { button, fill, h } from './dom.js';
import { openDialog, openForm } from './dialog.js';
import { FieldProblem, labelled, ticked } from './fields.js';
import { act, failed, notice } from './notices.js';
import { tryOut } from './server-actions.js';
import { editServer } from './server-edit.js';

const EXAMPLE = `{
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] }
  }
}`;
const STATES = {
  new: 'new',
  same: 'there already',
  conflict: 'replaces yours of this name',
  needs_input: 'needs something',
};

/** The dialog for a new server. */
export function addServer(done) {
  const input = h('textarea', {
    class: 'mono',
    rows: 9,
    spellcheck: 'false',
    placeholder: EXAMPLE,
    autofocus: true,
  });
  const problems = h('div', { role: 'alert' });
  const other = h(
    'p',
    { class: 'quiet' },
    'Or ',
    textButton('fill in the fields', () => {
      dialog.close();
      editServer(null, done);
    }),
    ', or ',
    textButton('import from other programs', () => {
      dialog.close();
      importServers(done);
    }),
    '.',
  );
  const field = labelled(
    'Paste a server’s JSON',
    input,
    'From Claude Desktop, VS Code, Cursor, or a server’s documentation. Comments are fine.',
  );
  const plain = h('input', { type: 'checkbox' });
  const keeps = ticked(
    'Keep secrets in it in plain text',
    plain,
    'Otherwise write env:NAME in place of a secret, and it is read from the environment.',
  );
  const dialog = openForm(
    'Add a server',
    [field, keeps, problems, other],
    'Add',
    async () => {
      fill(problems);
      if (!input.value.trim()) throw new FieldProblem(input, 'There is nothing to add yet.');
      const said = { paste: input.value, plainValues: plain.checked };
      const { items, problems: wrong = [] } = await post('mcp-servers', said);
      fill(
        problems,
        wrong.map(({ name, message }) =>
          h('p', { class: 'problem' }, name ? `${name}: ${message}` : message),
        ),
      );
      if (items.length)
        notice(items.length === 1 ? `Added ${items[0].name}.` : `Added ${items.length} servers.`);
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
  const place = h('div', {}, h('p', { class: 'quiet' }, 'Searching…'));
  const dialog = openDialog('Import servers', place, { wide: true });
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
    fill(place, h('p', {}, 'No servers of other programs were found on this machine.'), problemList(preview));
    return;
  }
  const boxes = new Map();
  const lines = rows.map((row) => {
    const takeable = row.state !== 'same';
    const box = h('input', {
      type: 'checkbox',
      checked: takeable && row.state !== 'conflict',
      disabled: !takeable,
      'aria-label': `Import ${row.name}`,
    });
    if (takeable) boxes.set(row.name, box);
    const note = row.problem;
    return h(
      'tr',
      {},
      h('td', {}, box),
      h('td', {}, row.name),
      h('td', { class: 'mono cut' }, row.what),
      h('td', { class: 'quiet cut' }, row.source),
      h('td', {}, STATES[row.state] ?? row.state, note && h('p', { class: 'quiet small' }, note)),
    );
  });
  const head = h(
    'tr',
    {},
    ['', 'Name', 'What', 'From', ''].map((text) => h('th', { scope: 'col' }, text)),
  );
  const plain = h('input', { type: 'checkbox' });
  const trouble = h('div', { role: 'alert' });
  const take = button(
    'Import',
    () =>
      act(take, async () => {
        const names = [...boxes].filter(([, box]) => box.checked).map(([name]) => name);
        const wanted = { apply: true, names, plainValues: plain.checked };
        const { imported, problems } = await post('mcp-servers/import', wanted);
        if (imported.length)
          notice(`Imported ${imported.length}. The files of the other programs were only read.`);
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
  const cancel = button('Cancel', () => dialog.close());
  fill(
    place,
    h('div', { class: 'wide' }, h('table', { class: 'rows' }, h('thead', {}, head), h('tbody', {}, lines))),
    problemList(preview),
    ticked(
      'Keep secrets in them in plain text',
      plain,
      'Otherwise they go to the system’s keyring; without one, servers with secrets are not imported.',
    ),
    trouble,
    h('div', { class: 'buttons end' }, cancel, take),
  );
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
          typeof it === 'string' ? it : [it.name ?? it.source, it.message].filter(Boolean).join(': '),
        ),
      ),
    )
  );
}
