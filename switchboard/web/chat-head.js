// What a chat's heading offers: assistant, model and approvals; rename, fork, export, delete.

import { get, post, remove } from './api.js';
import { button, fresh, h, say } from './dom.js';
import { confirm, openForm } from './dialog.js';
import { labelled, select } from './fields.js';
import { menuButton } from './menu.js';
import { failed } from './notices.js';
import { go } from './router.js';
import { download } from './result.js';

/** The ways to approve, as a list to choose from. */
export const ON_LIMIT = [
  ['stop', 'End the answer'],
  ['summarize', 'Ask the model to sum up'],
];

export const MODES = [
  ['ask', 'Ask before every call'],
  ['auto-read', 'Run what only reads on trusted servers, ask for the rest'],
  ['auto', 'Run everything'],
  ['plan', 'Run nothing'],
];

/** A button that shows the assistant and model, and a dialog to change them. */
export function chatOptions(current, change) {
  const label = h('span', { class: 'cut' }, 'Model');
  let assistants = [];
  let models = null;
  const control = button('', open, {
    class: 'button small options',
    title: 'Assistant, model and approvals',
  });
  control.replaceChildren(label);

  async function load() {
    [assistants, models] = await Promise.all([get('assistants').then(({ items }) => items), get('models')]);
    draw(current());
  }
  function draw(chat) {
    const assistant = assistants.find(({ id }) => id === chat?.assistantId);
    const model = chat?.model ?? assistant?.model ?? models?.current?.name;
    say(label, [assistant?.name, model].filter(Boolean).join(' · ') || 'Model');
    control.dispatchEvent(new CustomEvent('answering', { bubbles: true, detail: model ?? null }));
  }
  function open() {
    const chat = current();
    const assistant = select(
      [['', 'No assistant'], ...assistants.map(({ id, name }) => [id, name])],
      chat.assistantId ?? '',
    );
    const model = modelInput(models, chat.model ?? '');
    const mode = select([['', 'As set by the assistant or in Settings'], ...MODES], chat.approvalMode ?? '');
    const fields = [
      labelled('Assistant', assistant, 'A model with instructions and servers of its own.'),
      labelled('Model', model.element, 'Empty: the assistant’s, or the one in Settings.'),
      model.list,
      labelled('Approvals', mode),
    ];
    openForm('This chat', fields, 'Save', async () => {
      await change({
        assistantId: assistant.value || null,
        model: model.value() || null,
        approvalMode: mode.value || null,
      });
      draw(current());
    }, { controls: { model: model.element, assistantId: assistant } });
  }
  load().catch(failed);
  return { element: control, update: draw };
}

/** A text field with the known models to choose from. */
export function modelInput(models, value) {
  const id = fresh('models');
  const input = h('input', {
    type: 'text',
    list: id,
    value,
    placeholder: models?.current?.name ?? '',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const list = h(
    'datalist',
    { id },
    (models?.models ?? []).map((name) => h('option', { value: name })),
  );
  return { element: input, list, value: () => input.value.trim() };
}

/** Rename, fork, export, delete. */
export function chatMenu(talk) {
  const rename = () => {
    const input = h('input', { type: 'text', maxlength: 200, value: talk.state.conversation?.title ?? '' });
    openForm('Rename this chat', labelled('Title', input), 'Rename', () =>
      talk.change({ title: input.value.trim() || 'Untitled' }),
    );
  };
  const fork = async () => {
    const copy = await post(`${talk.path}/fork`);
    go(`chat/${copy.id}`);
  };
  const save = (format) => () =>
    download(
      `${talk.path}/export?format=${format}`,
      `${fileName(talk.state.conversation?.title)}.${format}`,
    ).catch(failed);
  const drop = async () => {
    const sure = await confirm(
      'Delete this chat?',
      'Its messages and results go with it. This cannot be undone.',
      'Delete',
    );
    if (!sure) return;
    await remove(talk.path).then(() => go('', { replace: true }), failed);
  };
  return menuButton('More about this chat', [
    ['Rename', rename],
    ['Fork', () => fork().catch(failed)],
    ['Export as Markdown', save('md')],
    ['Export as JSON', save('json')],
    ['Delete', drop, true],
  ]);
}

export function fileName(title) {
  return (
    (title || 'chat')
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60) || 'chat'
  );
}
