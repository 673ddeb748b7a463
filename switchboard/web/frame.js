// The frame of every view: the sidebar, the demo banner, the connection state.

import { get } from './api.js';
import { chatMenu } from './chat-menu.js';
import { button, fill, h, icon, iconButton, link, say } from './dom.js';
import { day } from './format.js';
import { lineState, listen, watch } from './live.js';
import { go } from './router.js';
import { failed } from './notices.js';
import { notifyOf } from './notify.js';
import { openPalette } from './palette.js';
import { text } from './text.js';

const RECENT = 30;
const t = text.page;
const PLACES = [
  ['history', 'history'],
  ['servers', 'server'],
  ['tools', 'tool'],
  ['assistants', 'people'],
  ['approvals', 'shield'],
  ['gateway', 'fork'],
  ['settings', 'settings'],
];

/** The frame: `element`, and `show(name, about, view)`. */
export function frame(health) {
  let words = 'Switchboard';
  let open = 0;
  /** The tab's title, with the number of questions that wait. */
  const retitle = () => {
    const title = words === 'Switchboard' ? words : `${words} · Switchboard`;
    document.title = open ? `(${open}) ${title}` : title;
  };
  const recent = recentChats((waiting) => {
    open = waiting;
    retitle();
  });
  const places = PLACES.map(([path, drawing]) =>
    link(`#/${path}`, [icon(drawing), h('span', {}, t.places[path])], { class: 'place', dataset: { path } }),
  );
  const side = h(
    'nav',
    { class: 'side', id: 'side', 'aria-label': t.menu },
    h(
      'div',
      { class: 'brand' },
      link('#/', [mark(), h('span', {}, 'Switchboard')], { class: 'name' }),
      iconButton('close', t.closeMenu, () => drawer(false), { class: 'icon-button only-narrow' }),
    ),
    link('#/', [icon('add'), h('span', {}, t.newChat)], { class: 'button primary new-chat' }),
    button(text.palette.title, openPalette, { class: 'button find-anything', icon: 'search' }),
    recent.element,
    h('div', { class: 'places' }, places),
    h(
      'p',
      { class: 'quiet version' },
      `Switchboard ${health.version}`,
      health.user && health.user !== 'local' ? ` · ${health.user}` : '',
    ),
  );
  const opener = iconButton('menu', t.openMenu, () => drawer(true), {
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
    say(lost, now === 'lost' ? t.lost : '');
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
      const entitle = (name) => {
        say(title, name);
        words = name;
        retitle();
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
    h('strong', {}, t.demo),
    ` ${t.demoWhy} `,
    link('#/settings', t.demoChange),
  );
}

/** The latest conversations, kept up to date by events. */
function recentChats(count) {
  const list = h('div', { class: 'recent' });
  let chats = [];
  let current = null;

  function draw() {
    count(chats.reduce((sum, { waiting = 0 }) => sum + waiting, 0));
    const pinned = chats.filter((chat) => chat.pinned);
    const groups = Map.groupBy(chats.filter((chat) => !chat.pinned), (chat) => day(chat.updatedAt));
    const all = pinned.length ? [[text.chats.pinned, pinned], ...groups] : [...groups];
    const shown = all.map(([name, items]) => [
      h('h2', { class: 'group' }, name),
      h('ul', {}, items.map(entry)),
    ]);
    fill(list, shown.length ? shown : h('p', { class: 'quiet pad' }, text.chats.none));
  }
  function entry(chat) {
    const state = chat.waiting
      ? h('span', { class: 'badge warn' }, text.chats.waiting)
      : chat.running && h('span', { class: 'pulse', role: 'img', 'aria-label': text.chats.answering });
    return h(
      'li',
      { class: 'chat-entry' },
      link(`#/chat/${chat.id}`, [h('span', { class: 'cut' }, chat.title || text.chats.untitled), state], {
        class: 'chat-link',
        'aria-current': chat.id === current ? 'page' : null,
      }),
      chatMenu(() => chats.find(({ id }) => id === chat.id) ?? chat, {
        removed: () => location.hash.startsWith(`#/chat/${chat.id}`) && go('', { replace: true }),
      }),
    );
  }
  async function load() {
    const [latest, pinned] = await Promise.all([
      get(`conversations?limit=${RECENT}`),
      get(`conversations?limit=${RECENT}&pinned=true`),
    ]);
    const known = new Set(latest.items.map(({ id }) => id));
    chats = [...latest.items, ...pinned.items.filter(({ id }) => !known.has(id))];
    draw();
  }
  listen(({ kind, data }) => {
    if (kind === 'conversation.updated') {
      const before = chats.find(({ id }) => id === data.conversation.id);
      if ((data.conversation.waiting ?? 0) > (before?.waiting ?? 0)) notifyOf(data.conversation).catch(failed);
      const rest = chats.filter(({ id }) => id !== data.conversation.id);
      chats = [data.conversation, ...rest]
        .sort((one, other) => other.updatedAt.localeCompare(one.updatedAt))
        .filter((chat, place) => chat.pinned || place < 2 * RECENT);
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
