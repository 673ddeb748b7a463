// All tools of all servers.

import { get } from './api.js';
import { fill, h, link } from './dom.js';
import { listen } from './live.js';
import { failed } from './notices.js';
import { builtIn, statusBadge } from './servers.js';
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
  const badges = new Map();
  const stop = listen(({ kind, data }) => {
    const badge = kind === 'server.status' && badges.get(data.server?.id);
    if (badge) fill(badge, statusBadge(data.server));
  });
  load(place, badges).catch(failed);
  return { title: 'Tools', element, leave: stop };
}

async function load(place, badges) {
  const { items } = await get('mcp-servers');
  if (!items.length) {
    fill(
      place,
      h(
        'div',
        { class: 'empty' },
        h('p', {}, 'No servers of yours yet.'),
        builtIn(),
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
    const badge = h('span', {}, statusBadge(server));
    badges.set(server.id, badge);
    if (server.isActive && server.trust !== 'pending') fillIn(server, body, badge);
    return h(
      'section',
      { class: 'group-of-tools' },
      h(
        'div',
        { class: 'card-head' },
        h('h2', {}, link(`#/servers/${server.id}`, server.name)),
        badge,
      ),
      body,
    );
  });
  fill(place, parts);
}

async function fillIn(server, body, badge) {
  const path = `mcp-servers/${server.id}`;
  try {
    const list = await get(`${path}/tools`);
    fill(body, new ToolList(path, list).element);
    // Asking may have connected it.
    fill(badge, statusBadge(await get(path)));
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
