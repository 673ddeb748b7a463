// The command palette: views, chats, servers and actions by a few letters of their names.

import { get, query } from './api.js';
import { openDialog } from './dialog.js';
import { fill, fresh, h } from './dom.js';
import { plain } from './format.js';
import { chooseModel } from './model-choose.js';
import { failed } from './notices.js';
import { go } from './router.js';
import { addServer, importServers } from './server-add.js';
import { openShortcuts } from './shortcuts.js';
import { text } from './text.js';
import { THEMES, setTheme } from './theme.js';

const t = text.palette;
const CHATS = 8;
const TYPING = 120;

/** What can always be done. */
function actions() {
  const nothing = () => {};
  const entry = (name, run) => ({ name, kind: t.action, run });
  return [
    entry(text.page.newChat, () => go('')),
    ...Object.entries(text.page.places).map(([path, name]) => ({ name, kind: t.view, run: () => go(path) })),
    entry(text.add.title, () => addServer(nothing)),
    entry(text.servers.importMenu, () => importServers(nothing)),
    entry(text.model.title, () => chooseModel().catch(failed)),
    ...THEMES.map((name) => entry(t.theme(text.appearance.themes[name]), () => setTheme(name))),
    entry(text.shortcuts.title, () => openShortcuts()),
  ];
}

/** Opens the palette, unless a dialog is open. */
export function openPalette() {
  if (document.querySelector('dialog[open]')) return;
  const id = fresh('palette');
  const list = h('ul', { class: 'palette-list', role: 'listbox', id, 'aria-label': t.results });
  const none = h('p', { class: 'quiet', role: 'status' });
  const input = h('input', {
    type: 'search',
    role: 'combobox',
    placeholder: t.hint,
    'aria-label': t.hint,
    'aria-expanded': 'true',
    'aria-controls': id,
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const fixed = actions();
  let servers = [];
  let chats = [];
  let shown = [];
  let at = 0;
  let asked = 0;
  const dialog = openDialog(t.title, h('div', { class: 'palette' }, input, list, none), { keeps: false });

  function draw() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ name, kind }) => words.every((word) => `${name} ${kind}`.toLowerCase().includes(word));
    shown = [...fixed.filter(fits), ...servers.filter(fits), ...chats];
    at = 0;
    fill(list, shown.map(option));
    none.textContent = shown.length ? '' : t.none;
    mark();
  }
  function option(it, place) {
    return h(
      'li',
      { role: 'option', id: `${id}-${place}`, onclick: () => choose(place) },
      h('span', { class: 'cut grow' }, plain(it.name)),
      h('span', { class: 'quiet small' }, it.kind),
    );
  }
  function mark() {
    [...list.children].forEach((line, place) => line.setAttribute('aria-selected', String(place === at)));
    if (shown.length) input.setAttribute('aria-activedescendant', `${id}-${at}`);
    else input.removeAttribute('aria-activedescendant');
    list.children[at]?.scrollIntoView({ block: 'nearest' });
  }
  function choose(place) {
    const it = shown[place];
    if (!it) return;
    dialog.close();
    it.run();
  }
  async function findChats() {
    asked += 1;
    const mine = asked;
    const { items } = await get(`conversations${query({ limit: CHATS, q: input.value.trim() })}`);
    if (mine !== asked) return;
    chats = items.map((chat) => ({
      name: chat.title || text.chats.untitled,
      kind: t.chat,
      run: () => go(`chat/${chat.id}`),
    }));
    draw();
  }
  let typing = null;
  input.addEventListener('input', () => {
    draw();
    clearTimeout(typing);
    typing = setTimeout(() => findChats().catch(failed), TYPING);
  });
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && shown.length) at = (at + step + shown.length) % shown.length;
    else if (event.key === 'Enter' && !event.isComposing) choose(at);
    else return;
    event.preventDefault();
    mark();
  });
  draw();
  findChats().catch(failed);
  get('mcp-servers')
    .then(({ items }) => {
      servers = items.map(({ id: server, name }) => ({ name, kind: t.server, run: () => go(`servers/${server}`) }));
      draw();
    })
    .catch(failed);
}
