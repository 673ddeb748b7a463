// What stands under the composer: assistant, model, approvals and tools.

import { get } from './api.js';
import { chooseTools, countOff } from './chat-tools.js';
import { fresh, h, icon, say } from './dom.js';
import { openForm } from './dialog.js';
import { labelled, select } from './fields.js';
import { modelOptions } from './model-options.js';
import { act, failed } from './notices.js';
import { text } from './text.js';

const t = text.chat;

/** Chips that show what answers and how, with a dialog to change it. */
export function chatOptions(current, change) {
  let assistants = [];
  let models = null;
  const assistant = chip('people', t.assistant, () => open('assistantId'));
  const model = chip('chat', t.model, () => open('model'), { title: t.options });
  const mode = chip('shield', text.settings.approvals, () => open('approvalMode'));
  const tools = chip('tool', text.page.places.tools, () =>
    act(tools.element, () =>
      chooseTools(current().switchedOff, async (switchedOff) => {
        await change({ switchedOff });
        draw(current());
      }),
    ),
  );
  const element = h('div', { class: 'chips' }, assistant.element, model.element, mode.element, tools.element);

  async function load() {
    [assistants, models] = await Promise.all([get('assistants').then(({ items }) => items), get('models')]);
    draw(current());
  }
  function draw(chat) {
    const chosen = assistants.find(({ id }) => id === chat?.assistantId);
    const name = chat?.model ?? chosen?.model ?? models?.current?.name;
    const approves = chat?.approvalMode ?? chosen?.approvalMode;
    assistant.say(chosen?.name ?? t.noAssistant);
    assistant.element.hidden = assistants.length === 0;
    model.say(name ?? t.model);
    mode.say(t.modes[approves] ?? t.modes.usual);
    const off = countOff(chat?.switchedOff);
    tools.say(off ? t.toolsOff(off) : text.page.places.tools);
    element.dispatchEvent(new CustomEvent('answering', { bubbles: true, detail: name ?? null }));
  }
  function open(first) {
    const chat = current();
    const controls = {
      assistantId: select(
        [['', t.noAssistant], ...assistants.map(({ id, name }) => [id, name])],
        chat.assistantId ?? '',
      ),
      approvalMode: select([['', t.usualMode], ...Object.entries(text.settings.modes)], chat.approvalMode ?? ''),
    };
    const input = modelInput(models, chat.model ?? '');
    controls.model = input.element;
    const answers = modelOptions(chat.modelOptions);
    const fields = [
      labelled(t.assistant, controls.assistantId, t.assistantHelp),
      labelled(t.model, input.element, t.modelHelp),
      input.list,
      labelled(text.settings.approvals, controls.approvalMode),
      ...answers.fields,
    ];
    const save = async () => {
      await change({
        assistantId: controls.assistantId.value || null,
        model: input.value() || null,
        approvalMode: controls.approvalMode.value || null,
        modelOptions: answers.value(),
      });
      draw(current());
    };
    openForm(t.optionsTitle, fields, text.common.save, save, { controls: { ...controls, ...answers.controls } });
    controls[first].focus();
  }
  draw(current());
  load().catch(failed);
  addEventListener('settings-saved', () => element.isConnected && load().catch(failed));
  return { element, update: draw };
}

/** A small button under the composer: a drawing, and what is chosen. */
function chip(drawing, about, onclick, props = {}) {
  const label = h('span', { class: 'cut' });
  const element = h('button', { type: 'button', class: 'chip', onclick, ...props }, icon(drawing), label);
  return {
    element,
    say(words) {
      say(label, words);
      element.setAttribute('aria-label', words.startsWith(about) ? words : `${about}: ${words}`);
    },
  };
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
