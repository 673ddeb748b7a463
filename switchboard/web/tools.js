// All tools of all servers.

import { get } from './api.js';
import { fill, h, link } from './dom.js';
import { failed } from './notices.js';
import { statusBadge } from './servers.js';
import { ToolList } from './tool-list.js';

export function toolsView() {
  const place = h('div', {}, h('p', { class: 'quiet' }, 'Asking the servers…'));
  const element = h(
    'div',
    { class: 'view' },
    h(
      'p',
      { class: 'lead' },
      'What models can call. “Ask” waits for your yes, “Run” does not, “Never” refuses.',
    ),
    place,
  );
  load(place).catch(failed);
  return { title: 'Tools', element };
}

async function load(place) {
  const { items } = await get('mcp-servers');
  if (!items.length) {
    fill(
      place,
      h(
        'div',
        { class: 'empty' },
        h('p', {}, 'No servers yet, so no tools.'),
        link('#/servers', 'Add a server'),
      ),
    );
    return;
  }
  const parts = items.map((server) => {
    const body = h(
      'div',
      {},
      h('p', { class: 'quiet' }, server.isActive ? 'Asking…' : 'This server is off.'),
    );
    if (server.isActive && server.trust !== 'pending') fillIn(server, body);
    return h(
      'section',
      { class: 'group-of-tools' },
      h(
        'div',
        { class: 'card-head' },
        h('h2', {}, link(`#/servers/${server.id}`, server.name)),
        statusBadge(server),
      ),
      body,
    );
  });
  fill(place, parts);
}

async function fillIn(server, body) {
  const path = `mcp-servers/${server.id}`;
  try {
    const { items } = await get(`${path}/tools`);
    fill(body, new ToolList(path, items).element);
  } catch (error) {
    fill(
      body,
      h(
        'div',
        { class: 'trouble' },
        h('p', {}, error.message),
        error.hint && h('p', { class: 'hint' }, error.hint),
      ),
    );
  }
}
