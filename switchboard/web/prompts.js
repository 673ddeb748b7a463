// A server's prompts: their forms, and what they say once they are filled in.

import { get, post } from './api.js';
import { completeFields } from './completion.js';
import { openForm } from './dialog.js';
import { button, fill, h } from './dom.js';
import { SchemaForm } from './form.js';
import { plain, plainLines, pretty } from './format.js';
import { act } from './notices.js';
import { codeBlock } from './prose.js';
import { textBlock } from './result.js';
import { text } from './text.js';

const t = text.server;

/** The tab of a server with all its prompts. */
export async function prompts(path, place) {
  fill(place, h('p', { class: 'quiet' }, text.common.asking));
  const { items } = await get(`${path}/prompts`);
  const rows = items.map((prompt) => row(path, prompt));
  fill(place, rows.length ? h('ul', { class: 'lines' }, rows) : h('p', { class: 'quiet' }, t.noPrompts));
}

function row(path, prompt) {
  const form = formOf(prompt);
  completeFields(form, path, { prompt: prompt.name });
  const shown = h('div', {});
  const show = button(
    t.show,
    () =>
      act(show, async () => {
        const values = form.collect();
        if (!values) return;
        const { messages = [] } = await filledIn(path, prompt, values);
        fill(
          shown,
          messages.map(({ role, content }) => [
            h('p', { class: 'quiet small' }, plain(role)),
            content?.type === 'text' ? textBlock(content.text) : codeBlock(pretty(content), 'json'),
          ]),
        );
      }),
    { class: 'button small', 'aria-label': t.showLabel(plain(prompt.name)) },
  );
  return h(
    'li',
    { class: 'line' },
    h('strong', {}, titleOf(prompt)),
    prompt.description && h('p', { class: 'quiet' }, plainLines(prompt.description)),
    form.element,
    show,
    shown,
  );
}

/**
 * Fills in a prompt of a server, in a dialog if it takes arguments, and gives its words to `insert`:
 * only the user sends them.
 */
export async function usePrompt(path, name, insert) {
  const { items } = await get(`${path}/prompts`);
  const prompt = items.find((it) => it.name === name);
  if (!prompt) throw new Error(t.noPrompt(plain(name)));
  const use = async (values) => insert(wordsOf(await filledIn(path, prompt, values)));
  if (!prompt.arguments?.length) return use({});
  const form = formOf(prompt);
  completeFields(form, path, { prompt: name });
  const about = prompt.description && h('p', { class: 'quiet' }, plainLines(prompt.description));
  openForm(titleOf(prompt), [about, form.element].filter(Boolean), t.insert, async () => {
    const values = form.collect();
    if (!values) return false;
    await use(values);
    return true;
  });
  return undefined;
}

/** The words of a prompt's messages: texts, and the texts of resources in it. */
function wordsOf({ messages = [] }) {
  const words = messages.map(({ content }) => content?.text ?? content?.resource?.text);
  return words.filter((it) => typeof it === 'string').join('\n\n');
}

function formOf(prompt) {
  const given = prompt.arguments ?? [];
  const field = ({ name, title, description }) => [name, { type: 'string', title, description }];
  return new SchemaForm({
    properties: Object.fromEntries(given.map(field)),
    required: given.filter(({ required }) => required).map(({ name }) => name),
  });
}

function filledIn(path, { name }, values) {
  return post(`${path}/prompts/${encodeURIComponent(name)}`, { arguments: values });
}

function titleOf(prompt) {
  return plain(prompt.title ?? prompt.name);
}
