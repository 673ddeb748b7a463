// What an empty chat shows: the first steps as long as they are needed, then what could be asked.

import { get } from './api.js';
import { button, fill, h, icon, link } from './dom.js';
import { listen } from './live.js';
import { chooseModel } from './model-choose.js';
import { plain } from './format.js';
import { act, failed } from './notices.js';
import { usePrompt } from './prompts.js';
import { addServer, importServers } from './server-add.js';
import { text } from './text.js';

const t = text.welcome;
const first = text.start;
const HIDDEN = 'switchboard.start.hidden';

/** The greeting; `say(words)` puts a suggestion where one writes. Returns it, and how to leave it. */
export function welcome(say) {
  const column = h('div', { class: 'column' });
  const element = h('div', { class: 'log welcome' }, column);
  let left = false;
  let asked = 0;

  async function load() {
    asked += 1;
    const mine = asked;
    const [health, { items: servers }, { items }] = await Promise.all([
      get('health'),
      get('mcp-servers'),
      get('suggestions'),
    ]);
    if (left || mine !== asked) return;
    const own = servers.filter(({ builtIn }) => !builtIn);
    const ready = !health.demo && own.length > 0;
    const steps = !ready && localStorage.getItem(HIDDEN) === null;
    const tries = health.demo && !own.length ? t.tries.map((it) => [...it, () => say(it[0])]) : suggested(items, servers);
    fill(column, steps ? firstSteps(health, own, tries) : greeting(tries));
  }
  function greeting(tries) {
    return [
      h('h2', {}, t.title),
      h('p', { class: 'quiet' }, t.lead, ' ', link('#/servers', t.add)),
      tryList(tries),
    ];
  }
  function firstSteps(health, own, tries) {
    const model = button(
      health.demo ? first.modelButton : first.modelChange,
      () => act(model, () => chooseModel({ done: load })),
      { class: health.demo ? 'button primary small' : 'button small' },
    );
    const server = button(own.length ? first.serverMore : first.serverButton, () => addServer(load), {
      class: !health.demo && !own.length ? 'button primary small' : 'button small',
    });
    const other = button(first.serverImport, () => act(other, () => importServers(load)), { class: 'button small' });
    const names = own.map(({ name }) => plain(name)).join(', ');
    const hide = h('button', { type: 'button', class: 'link' }, first.hide);
    hide.addEventListener('click', () => {
      localStorage.setItem(HIDDEN, '1');
      load().catch(failed);
    });
    return [
      h('h2', {}, first.title),
      h(
        'ol',
        { class: 'steps' },
        step(first.model, !health.demo, health.demo ? `${first.modelWhy} ${first.modelDemo}` : first.modelNow(health.model), model),
        step(first.server, own.length > 0, own.length ? first.serverNow(names) : first.serverWhy, server, other),
        step(first.ask, false, first.askWhy),
      ),
      tryList(tries),
      h('p', { class: 'quiet small' }, hide),
    ];
  }
  function tryList(tries) {
    const lines = tries.map(([words, why, take]) =>
      h(
        'li',
        {},
        h(
          'button',
          { type: 'button', class: 'try', onclick: take },
          h('span', {}, words),
          h('span', { class: 'quiet' }, why),
        ),
      ),
    );
    return h('ul', { class: 'tries' }, lines);
  }
  /** What could be asked, and which prompts could be used. */
  function suggested(items, servers) {
    return items.map((it) => {
      const server = plain(it.server);
      if (!it.prompt) return [plain(it.text), t.from(server), () => say(plain(it.text))];
      const { id } = servers.find(({ name }) => name === it.server) ?? {};
      const use = ({ currentTarget }) =>
        act(currentTarget, () => usePrompt(`mcp-servers/${id}`, it.prompt, say));
      return [plain(it.text), t.prompt(server), use];
    });
  }
  load().catch(failed);
  const again = () => load().catch(failed);
  addEventListener('settings-saved', again);
  const stop = listen(({ kind }) => {
    if (kind === 'server.tools.changed' || kind === 'server.deleted') again();
  });
  return {
    element,
    leave() {
      left = true;
      stop();
      removeEventListener('settings-saved', again);
    },
  };
}

function step(title, done, about, ...buttons) {
  return h(
    'li',
    { class: done ? 'step done' : 'step' },
    h(
      'div',
      { class: 'step-words' },
      h('h3', {}, title, done && h('span', { class: 'step-done' }, icon('check'), h('span', { class: 'hidden' }, first.done))),
      h('p', { class: 'quiet' }, about),
    ),
    h('div', { class: 'buttons' }, buttons),
  );
}
