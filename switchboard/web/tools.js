// All tools of all servers.

import { get } from './api.js';
import { button, fill, h, link } from './dom.js';
import { plain, plainLines } from './format.js';
import { listen } from './live.js';
import { act, failed } from './notices.js';
import { statusBadge } from './servers.js';
import { text } from './text.js';
import { ToolList } from './tool-list.js';

const t = text.tools;

export function toolsView() {
  const place = h('div', {}, h('p', { class: 'quiet' }, t.asking));
  const lists = [];
  const search = h('input', { type: 'search', placeholder: t.findAny, 'aria-label': t.findAny, oninput: filter });
  const state = h('p', { class: 'quiet small', role: 'status' });
  const allOn = button(t.allOn, () => act(allOn, () => turn(true)), { class: 'button small' });
  const allOff = button(t.allOff, () => act(allOff, () => turn(false)), { class: 'button small' });
  const bar = h('div', { class: 'card-head tools-bar', hidden: true }, search, allOn, allOff);
  const element = h('div', { class: 'view' }, h('p', { class: 'lead' }, t.lead), bar, state, place);

  function filter() {
    const words = search.value.trim();
    const shown = lists.reduce((sum, { list, section }) => {
      const found = list.filter(words);
      section.hidden = Boolean(words) && found === 0;
      return sum + found;
    }, 0);
    state.textContent = words ? t.found(shown) : '';
    place.classList.toggle('filtered', Boolean(words));
  }
  /** Switches every tool that is shown. */
  const turn = (enabled) => Promise.all(lists.map(({ list }) => list.turn(enabled)));

  const badges = new Map();
  const stop = listen(({ kind, data }) => {
    const badge = kind === 'server.status' && badges.get(data.server?.id);
    if (badge) fill(badge, statusBadge(data.server));
  });
  const took = (list, section) => {
    lists.push({ list, section });
    bar.hidden = false;
    filter();
  };
  load(place, badges, took).catch(failed);
  return { title: text.page.places.tools, element, leave: stop };
}

async function load(place, badges, took) {
  const { items } = await get('mcp-servers');
  if (!items.length) {
    fill(place, h('div', { class: 'empty' }, h('p', {}, t.none), link('#/servers', text.add.title)));
    return;
  }
  const parts = items.map((server) => {
    const body = h('div', {}, h('p', { class: 'quiet' }, server.isActive ? t.wait : t.off));
    const badge = h('span', {}, statusBadge(server));
    badges.set(server.id, badge);
    const section = h(
      'section',
      { class: 'group-of-tools' },
      h('div', { class: 'card-head' }, h('h2', {}, link(`#/servers/${server.id}`, plain(server.name))), badge),
      body,
    );
    if (server.isActive && server.trust !== 'pending')
      fillIn(server, body, badge).then((list) => list && took(list, section));
    return section;
  });
  fill(place, parts);
}

async function fillIn(server, body, badge) {
  const path = `mcp-servers/${server.id}`;
  try {
    const list = new ToolList(path, await get(`${path}/tools`), { search: false });
    fill(body, list.element);
    // Asking may have connected it.
    fill(badge, statusBadge(await get(path)));
    return list;
  } catch (error) {
    const hint = error.hint && h('p', { class: 'hint' }, plainLines(error.hint));
    fill(body, h('div', { class: 'trouble' }, h('p', {}, plainLines(error.message)), hint));
    return null;
  }
}
