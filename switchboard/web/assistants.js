// Assistants: a model with instructions, servers and limits of its own.

import { get, post, put, remove } from './api.js';
import { button, fill, h } from './dom.js';
import { MODES, ON_LIMIT, modelInput } from './chat-head.js';
import { confirm, openForm } from './dialog.js';
import { labelled, numberIn, select, textIn } from './fields.js';
import { failed } from './notices.js';

const SERVERS = [
  ['auto', 'All enabled servers'],
  ['manual', 'Selected servers'],
  ['off', 'None'],
];

const CALLS = [
  ['', 'Automatic'],
  ['function', 'Function calling'],
  ['prompt', 'Prompt mode, for models without function calling'],
];

export function assistantsView() {
  const list = h('ul', { class: 'cards' });
  const element = h(
    'div',
    { class: 'view' },
    h(
      'p',
      { class: 'lead' },
      'An assistant is a model with its own instructions and servers. Choose one when you start a chat.',
    ),
    list,
  );
  let models = null;
  let servers = [];

  async function load() {
    const [assistants, known, all] = await Promise.all([
      get('assistants'),
      get('models'),
      get('mcp-servers'),
    ]);
    models = known;
    servers = all.items;
    fill(
      list,
      assistants.items.length
        ? assistants.items.map(card)
        : h('li', { class: 'empty' }, 'No assistants yet.'),
    );
  }
  function card(it) {
    const chosen = servers.filter(({ id }) => it.serverIds?.includes(id)).map(({ name }) => name);
    const uses = { auto: 'all servers', off: 'no servers', manual: chosen.join(', ') || 'no servers yet' }[
      it.toolSelection
    ];
    const how = { prompt: 'tools by prompt', function: 'tools by function calling' }[it.mcpMode];
    const facts = [it.model ?? 'the model in Settings', uses, how, it.maxRounds ? `${it.maxRounds} rounds` : null]
      .filter(Boolean)
      .join(' · ');
    const change = button('Edit', () => edit(it), { class: 'button small', 'aria-label': `Edit ${it.name}` });
    const drop = button('Remove', () => take(it).catch(failed), {
      class: 'button small',
      'aria-label': `Remove ${it.name}`,
    });
    return h(
      'li',
      { class: 'card' },
      h('div', { class: 'card-head' }, h('h2', {}, it.name), h('div', { class: 'buttons' }, change, drop)),
      h('p', { class: 'quiet' }, facts),
      it.system && h('p', { class: 'system' }, it.system),
    );
  }
  async function take(it) {
    const sure = await confirm(`Remove ${it.name}?`, 'Chats with it stay.', 'Remove');
    if (!sure) return;
    await remove(`assistants/${it.id}`);
    await load();
  }
  function edit(it) {
    const name = h('input', { type: 'text', value: it?.name ?? '', required: true, maxlength: 100 });
    const model = modelInput(models, it?.model ?? '');
    const system = h('textarea', { rows: 5 });
    system.value = it?.system ?? '';
    const mode = select(SERVERS, it?.toolSelection ?? 'auto');
    const boxes = servers.map((server) => [
      server.id,
      h('input', { type: 'checkbox', checked: it?.serverIds?.includes(server.id) ?? false }),
      server.name,
    ]);
    const picker = h(
      'fieldset',
      { class: 'field' },
      h('legend', {}, 'Servers'),
      h(
        'div',
        { class: 'choices' },
        boxes.map(([, box, label]) => h('label', { class: 'check' }, box, h('span', {}, label))),
      ),
    );
    const show = () => {
      picker.hidden = mode.value !== 'manual';
    };
    mode.addEventListener('change', show);
    show();
    const rounds = h('input', { type: 'text', inputmode: 'numeric', value: it?.maxRounds ?? '' });
    const onLimit = select([['', 'As in Settings'], ...ON_LIMIT], it?.onLimit ?? '');
    const calls = select(CALLS, it?.mcpMode ?? '');
    const approval = select([['', 'As in Settings'], ...MODES], it?.approvalMode ?? '');
    const fields = [
      labelled('Name', name),
      labelled('Model', model.element, 'Empty: the one in Settings.'),
      model.list,
      labelled('Instructions', system),
      labelled('Uses', mode),
      picker,
      labelled('Calls tools', calls),
      labelled(
        'Rounds it may take',
        rounds,
        'Maximum number of model requests per answer. 0: no limit. Empty: as in Settings.',
      ),
      labelled('At a limit', onLimit),
      labelled('Approvals', approval),
    ];
    openForm(
      it ? `Edit ${it.name}` : 'New assistant',
      fields,
      'Save',
      async () => {
        const body = {
          name: textIn(name, 'Name'),
          model: model.value() || null,
          system: system.value.trim() || null,
          maxRounds: numberIn(rounds, 'Rounds', { whole: true, max: 2 ** 32 - 1 }),
          onLimit: onLimit.value || null,
          approvalMode: approval.value || null,
          toolSelection: mode.value,
          mcpMode: calls.value || null,
          serverIds: boxes.filter(([, box]) => box.checked).map(([id]) => id),
        };
        await (it ? put(`assistants/${it.id}`, body) : post('assistants', body));
        await load();
      },
      { wide: true, controls: { name, model: model.element, maxRounds: rounds } },
    );
  }
  const loaded = load();
  loaded.catch(failed);
  return {
    title: 'Assistants',
    element,
    tools: [button('New', () => loaded.then(() => edit(null), failed), { class: 'button primary small', icon: 'add' })],
  };
}
