// Assistants: a model with instructions, servers and limits of its own.

import { get, post, put, remove } from './api.js';
import { button, fill, h } from './dom.js';
import { modelInput } from './chat-head.js';
import { confirm, openForm } from './dialog.js';
import { labelled, numberIn, select, textIn } from './fields.js';
import { modelOptions } from './model-options.js';
import { failed } from './notices.js';
import { text } from './text.js';

const t = text.assistants;
const common = text.common;
const settings = text.settings;

export function assistantsView() {
  const list = h('ul', { class: 'cards' });
  const element = h(
    'div',
    { class: 'view' },
    h('p', { class: 'lead' }, t.lead),
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
    servers = all.items.filter(({ builtIn }) => !builtIn);
    fill(
      list,
      assistants.items.length
        ? assistants.items.map(card)
        : h('li', { class: 'empty' }, t.none),
    );
  }
  function card(it) {
    const chosen = servers.filter(({ id }) => it.serverIds?.includes(id)).map(({ name }) => name);
    const uses = { auto: t.allServers, off: t.noServers, manual: chosen.join(', ') || t.noServersYet }[
      it.toolSelection
    ];
    const how = { prompt: t.byPrompt, function: t.byFunction }[it.mcpMode];
    const facts = [it.model ?? t.usualModel, uses, how, it.maxRounds ? t.rounds(it.maxRounds) : null]
      .filter(Boolean)
      .join(' · ');
    const change = button(common.edit, () => edit(it), { class: 'button small', 'aria-label': common.editTitle(it.name) });
    const drop = button(common.remove, () => take(it).catch(failed), {
      class: 'button small',
      'aria-label': common.removeLabel(it.name),
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
    const sure = await confirm(common.removeTitle(it.name), t.removeText, common.remove);
    if (!sure) return;
    await remove(`assistants/${it.id}`);
    await load();
  }
  function edit(it) {
    const name = h('input', { type: 'text', value: it?.name ?? '', required: true, maxlength: 100 });
    const model = modelInput(models, it?.model ?? '');
    const system = h('textarea', { rows: 5 });
    system.value = it?.system ?? '';
    const mode = select(Object.entries(t.selections), it?.toolSelection ?? 'auto');
    const boxes = servers.map((server) => [
      server.id,
      h('input', { type: 'checkbox', checked: it?.serverIds?.includes(server.id) ?? false }),
      server.name,
    ]);
    const picker = h(
      'fieldset',
      { class: 'field' },
      h('legend', {}, t.servers),
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
    const onLimit = select([['', t.asInSettings], ...Object.entries(settings.onLimits)], it?.onLimit ?? '');
    const calls = select(Object.entries(t.modes), it?.mcpMode ?? 'auto');
    const answers = modelOptions(it?.modelOptions);
    const approval = select([['', t.asInSettings], ...Object.entries(settings.modes)], it?.approvalMode ?? '');
    const fields = [
      labelled(common.name, name),
      labelled(settings.model, model.element, t.modelHelp),
      model.list,
      labelled(t.instructions, system),
      labelled(t.uses, mode),
      picker,
      labelled(t.calls, calls),
      labelled(t.maxRounds, rounds, t.maxRoundsHelp),
      labelled(settings.onLimit, onLimit),
      labelled(settings.approvals, approval),
      ...answers.fields,
    ];
    openForm(
      it ? common.editTitle(it.name) : t.newTitle,
      fields,
      common.save,
      async () => {
        const body = {
          name: textIn(name, common.name),
          model: model.value() || null,
          system: system.value.trim() || null,
          maxRounds: numberIn(rounds, settings.roundsName, { whole: true, max: 2 ** 32 - 1 }),
          onLimit: onLimit.value || null,
          approvalMode: approval.value || null,
          modelOptions: answers.value(),
          toolSelection: mode.value,
          mcpMode: calls.value === 'auto' ? null : calls.value,
          serverIds: boxes.filter(([, box]) => box.checked).map(([id]) => id),
        };
        await (it ? put(`assistants/${it.id}`, body) : post('assistants', body));
        await load();
      },
      { wide: true, controls: { name, model: model.element, maxRounds: rounds, ...answers.controls } },
    );
  }
  const loaded = load();
  loaded.catch(failed);
  return {
    title: text.page.places.assistants,
    element,
    tools: [button(t.new, () => loaded.then(() => edit(null), failed), { class: 'button primary small', icon: 'add' })],
  };
}
