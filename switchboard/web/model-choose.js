// Choosing a model: provider, key or address, a test, and a model of its list.

import { get, post } from './api.js';
import { button, fill, fresh, h, icon, say } from './dom.js';
import { openForm } from './dialog.js';
import { FieldProblem, actInForm, labelled, mark, select } from './fields.js';
import { plain } from './format.js';
import { notice } from './notices.js';
import { text } from './text.js';

const t = text.model;
/** What a user calls a provider. */
const NAMES = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  gemini: 'Google Gemini',
  openrouter: 'OpenRouter',
  mistral: 'Mistral',
  deepseek: 'DeepSeek',
  xai: 'xAI',
  groq: 'Groq',
  together: 'Together',
  qwen: 'Qwen (DashScope)',
  azure: 'Azure OpenAI',
  ollama: t.local('Ollama'),
  'lm-studio': t.local('LM Studio'),
  'llama.cpp': t.local('llama.cpp'),
  vllm: t.local('vLLM'),
};

/** What an address can speak. */
const WIRES = [
  ['openai-chat', 'OpenAI Chat Completions'],
  ['openai-responses', 'OpenAI Responses'],
  ['anthropic', 'Anthropic Messages'],
  ['gemini', 'Gemini'],
];

export function providerName(name) {
  return NAMES[name] ?? name;
}

/** The dialog. `done()` is called once a model was chosen. */
export async function chooseModel({ provider = null, done = () => {} } = {}) {
  const models = await get('models');
  const providers = models.providers.filter(({ demo }) => !demo);
  const first = provider ?? providers.find(({ used }) => used)?.name ?? providers[0].name;
  const which = select([...providers.map(({ name }) => [name, providerName(name)]), ['', t.other]], first);
  const key = h('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' });
  const address = h('input', { type: 'url', autocomplete: 'off', spellcheck: 'false', inputmode: 'url' });
  const wire = select(WIRES, 'openai-chat');
  const list = fresh('models');
  const model = h('input', { type: 'text', list, autocomplete: 'off', spellcheck: 'false' });
  const known = h('datalist', { id: list });
  const verdict = h('p', { class: 'quiet', role: 'status' });
  const keyField = labelled(t.key, key, t.keyHelp);
  const keyNote = h('p', { class: 'help' });
  keyField.append(keyNote);
  const addressField = labelled(t.address, address, t.addressHelp);
  const wireField = labelled(t.wire, wire);
  let tested = null;

  const chosen = () => providers.find(({ name }) => name === which.value) ?? null;
  function place() {
    const it = chosen();
    const url = address.value.trim();
    const body = {};
    if (it) body.provider = it.name;
    if (!addressField.hidden && url) body.baseUrl = url;
    if (!it) body.wire = wire.value;
    if (!keyField.hidden && key.value.trim()) body.key = key.value.trim();
    if (!it && !url) throw new FieldProblem(address, t.needsAddress);
    return body;
  }
  function draw() {
    const it = chosen();
    wireField.hidden = Boolean(it);
    addressField.hidden = Boolean(it) && !it.local && it.name !== 'azure';
    keyField.hidden = !models.keysAllowed || Boolean(it?.local);
    say(keyNote, !models.keysAllowed ? t.forbidden : it?.keyFound ? t.keyFound : it ? '' : t.keyOptional);
    model.placeholder = it?.model ?? '';
    fill(known);
    say(verdict, '');
    tested = null;
  }
  async function test() {
    const asked = place();
    fill(verdict, t.testing);
    try {
      const { items, listed } = await post('models/list', asked);
      fill(known, items.map(({ id, title }) => h('option', { value: id }, plain(title ?? id))));
      const usual = chosen()?.model;
      const best = items.some(({ id }) => id === usual) ? usual : items[0]?.id;
      if (!model.value.trim() && best) model.value = best;
      fill(verdict, icon(listed ? 'check' : 'warn'), ' ', listed ? t.works(items.length) : t.noList);
      tested = JSON.stringify(asked);
    } catch (error) {
      say(verdict, '');
      throw error;
    }
  }
  which.addEventListener('change', () => {
    // What was typed was meant for the provider before.
    for (const control of [key, address, model]) {
      control.value = '';
      mark(control);
    }
    draw();
  });
  const controls = { provider: which, baseUrl: address, key, model, wire };
  const tryIt = button(t.test, () => actInForm(tryIt, test), { class: 'button small' });
  draw();
  const dialog = openForm(
    t.title,
    [
      labelled(t.provider, which),
      addressField,
      wireField,
      keyField,
      h('div', { class: 'test-line' }, tryIt, verdict),
      labelled(t.model, model, t.modelHelp),
      known,
    ],
    t.use,
    async () => {
      // What does not answer is not chosen.
      if (tested !== JSON.stringify(place())) await test();
      const name = model.value.trim() || chosen()?.model;
      if (!name) throw new FieldProblem(model, t.none);
      const { current } = await post('models/use', { ...place(), model: name });
      notice(t.chosen(current?.name ?? name));
      dispatchEvent(new Event('settings-saved'));
      await done();
    },
    { controls },
  );
  return dialog;
}
