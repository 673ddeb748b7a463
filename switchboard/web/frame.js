// The frame of every view: the sidebar, the demo banner, the connection state.

import { get } from './api.js';
import { fill, h, icon, iconButton, link, say } from './dom.js';
import { day } from './format.js';
import { lineState, listen, watch } from './live.js';
import { failed } from './notices.js';

const RECENT = 30;
const PLACES = [
  ['history', 'All chats', 'history'],
  ['servers', 'Servers', 'server'],
  ['tools', 'Tools', 'tool'],
  ['assistants', 'Assistants', 'people'],
  ['approvals', 'Approvals', 'shield'],
  ['gateway', 'Gateway', 'fork'],
  ['settings', 'Settings', 'settings'],
];

/** The frame: `element`, and `show(name, about, view)`. */
export function frame(health) {
  const recent = recentChats();
  const places = PLACES.map(([path, label, drawing]) =>
    link(`#/${path}`, [icon(drawing), h('span', {}, label)], { class: 'place', dataset: { path } }),
  );
  const side = h(
    'nav',
    { class: 'side', id: 'side', 'aria-label': 'Chats and settings' },
    h(
      'div',
      { class: 'brand' },
      link('#/', [mark(), h('span', {}, 'Switchboard')], { class: 'name' }),
      iconButton('close', 'Close menu', () => drawer(false), { class: 'icon-button only-narrow' }),
    ),
    link('#/', [icon('add'), h('span', {}, 'New chat')], { class: 'button primary new-chat' }),
    recent.element,
    h('div', { class: 'places' }, places),
    h(
      'p',
      { class: 'quiet version' },
      `Switchboard ${health.version}`,
      health.user && health.user !== 'local' ? ` · ${health.user}` : '',
    ),
  );
  const opener = iconButton('menu', 'Open menu', () => drawer(true), {
    class: 'icon-button only-narrow',
    'aria-controls': 'side',
    'aria-expanded': 'false',
  });
  const title = h('h1', { class: 'title', tabindex: '-1' });
  const tools = h('div', { class: 'head-tools' });
  const lost = h('p', { class: 'line-lost', role: 'status' });
  const place = h('div', { class: 'stage' });
  const demo = banner();
  demo.hidden = !health.demo;
  const main = h(
    'main',
    { class: 'main', id: 'main' },
    h('header', { class: 'head' }, opener, title, tools),
    demo,
    lost,
    place,
  );
  const shade = h('div', { class: 'shade', onclick: () => drawer(false) });
  const element = h('div', { class: 'frame' }, side, shade, main);

  function drawer(open) {
    element.classList.toggle('drawer', open);
    main.inert = open;
    opener.setAttribute('aria-expanded', String(open));
    (open ? side.querySelector('a, button') : opener).focus();
  }
  side.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && element.classList.contains('drawer')) drawer(false);
  });
  side.addEventListener('click', (event) => {
    if (event.target.closest('a') && element.classList.contains('drawer')) drawer(false);
  });

  function tellLine(now) {
    if (now === 'anew') return;
    say(lost, now === 'lost' ? 'Connection lost. Trying again…' : '');
    element.classList.toggle('offline', now === 'lost');
  }
  watch(tellLine);
  tellLine(lineState());

  // The banner goes with what answers: the model of Settings, or the one of the chat that is shown.
  let usual = health.demo;
  addEventListener('settings-saved', async () => {
    const now = await get('health').catch(() => null);
    if (!now) return;
    usual = now.demo;
    demo.hidden = !usual;
  });
  element.addEventListener('answering', ({ detail }) => {
    demo.hidden = detail ? detail !== 'demo' : !usual;
  });

  let before = null;
  return {
    element,
    show(name, about, view) {
      demo.hidden = !usual;
      fill(place, view.element);
      const entitle = (text) => {
        say(title, text);
        document.title = text === 'Switchboard' ? text : `${text} · Switchboard`;
      };
      entitle(view.title);
      view.entitle = entitle;
      fill(tools, view.tools ?? []);
      const path = name === 'server' ? 'servers' : name;
      for (const one of places) {
        if (one.dataset.path === path) one.setAttribute('aria-current', 'page');
        else one.removeAttribute('aria-current');
      }
      recent.mark(name === 'chat' ? about[0] : null);
      // A new view is announced by its heading; the chat has its own first place.
      if (before !== null && name !== 'chat') title.focus({ preventScroll: true });
      before = name;
      view.shown?.();
    },
  };
}

function mark() {
  const drawing = h('img', { src: 'icon.svg', alt: '', width: 22, height: 22 });
  return drawing;
}

function banner() {
  return h(
    'p',
    { class: 'banner' },
    h('strong', {}, 'Demo model, not an AI.'),
    ' No model key was found, so a scripted stand-in answers. The tools and everything else are real. ',
    link('#/settings', 'Choose a model'),
  );
}

/** The latest conversations, kept up to date by events. */
function recentChats() {
  const list = h('div', { class: 'recent' });
  let chats = [];
  let current = null;

  function draw() {
    const groups = Map.groupBy(chats, (chat) => day(chat.updatedAt));
    const shown = [...groups].map(([name, items]) => [
      h('h2', { class: 'group' }, name),
      h('ul', {}, items.map(entry)),
    ]);
    fill(list, shown.length ? shown : h('p', { class: 'quiet pad' }, 'Your chats will be here.'));
  }
  function entry(chat) {
    const state = chat.waiting
      ? h('span', { class: 'badge warn' }, 'waiting')
      : chat.running && h('span', { class: 'pulse', role: 'img', 'aria-label': 'answering' });
    return h(
      'li',
      {},
      link(`#/chat/${chat.id}`, [h('span', { class: 'cut' }, chat.title || 'Untitled'), state], {
        class: 'chat-link',
        'aria-current': chat.id === current ? 'page' : null,
      }),
    );
  }
  async function load() {
    const page = await get(`conversations?limit=${RECENT}`);
    chats = page.items;
    draw();
  }
  listen(({ kind, data }) => {
    if (kind === 'conversation.updated') {
      const rest = chats.filter(({ id }) => id !== data.conversation.id);
      chats = [data.conversation, ...rest]
        .sort((one, other) => other.updatedAt.localeCompare(one.updatedAt))
        .slice(0, RECENT);
      draw();
    } else if (kind === 'conversation.deleted') {
      chats = chats.filter(({ id }) => id !== data.id);
      draw();
    }
  });
  watch((now) => now === 'anew' && load().catch(failed));
  load().catch(failed);
  return {
    element: list,
    mark(id) {
      current = id;
      draw();
    },
  };
}
