// One server: its tools, resources, prompts and logs.

import { get } from './api.js';
import { button, fill, h, link } from './dom.js';
import { listen, watch } from './live.js';
import { act, failed, notice } from './notices.js';
import { plain, plainLines } from './format.js';
import { prompts } from './prompts.js';
import { resources } from './resources.js';
import { sandboxLines } from './sandbox.js';
import { testServer } from './server-actions.js';
import { editServer } from './server-edit.js';
import { updateServer } from './server-install.js';
import { review } from './server-review.js';
import { endpoint, kindOf, statusBadge, troubleOf } from './servers.js';
import { text } from './text.js';
import { ToolList } from './tool-list.js';

const t = text.server;
const TABS = [
  ['tools', text.servers.toolsTab],
  ['resources', text.servers.resourcesTab],
  ['prompts', text.servers.promptsTab],
  ['logs', text.servers.logsTab],
];
const BODIES = { tools, resources, prompts, logs };

export function serverView(id, tab) {
  const path = `mcp-servers/${id}`;
  const about = h('div', { class: 'about' });
  const found = h('div', { class: 'found', role: 'status' });
  const place = h('div', { class: 'tab-body' });
  const tabs = TABS.map(([name, label]) =>
    link(`#/servers/${id}${name === 'tools' ? '' : `/${name}`}`, label, {
      'aria-current': name === tab ? 'page' : null,
    }),
  );
  const element = h(
    'div',
    { class: 'view' },
    link('#/servers', t.all, { class: 'back' }),
    about,
    found,
    h('nav', { class: 'tabs', 'aria-label': t.about }, tabs),
    place,
  );
  const body = BODIES[tab](path, place);
  let server = null;
  const view = { title: t.title, element, leave: () => stop.forEach((end) => end()) };
  const test = button(text.common.test, () => act(test, async () => draw(await testServer(server, found))), { class: 'button small' });
  const update = button(text.install.update, () => act(update, () => updateServer(server, draw)), { class: 'button small' });
  const edit = button(text.common.edit, () => editServer(server, draw), { class: 'button small' });

  function draw(it) {
    server = it;
    view.entitle?.(plain(it.name));
    const trouble = troubleOf(it);
    const pending = it.trust === 'pending';
    fill(
      about,
      h(
        'div',
        { class: 'card-head' },
        statusBadge(it),
        h('span', { class: 'quiet' }, kindOf(it)),
        h('span', { class: 'mono cut grow' }, pending ? '' : endpoint(it)),
        test,
        edit,
        it.installed?.registry && update,
      ),
      pending && review(it),
      sandboxLines(it),
      trouble.length > 0 && h('div', { class: 'trouble' }, trouble),
    );
  }
  async function load() {
    draw(await get(path));
  }
  const stop = [
    listen(({ kind, data }) => {
      if (kind === 'server.status' && data.server?.id === id) draw(data.server);
      else if (kind === 'server.findings' && data.serverId === id && data.findings.length)
        notice(text.scan.found(plain(data.server)), 'warn');
      else if (kind === 'server.tools.changed' && data.serverId === id)
        body
          .catch(() => {})
          .then(() => BODIES[tab](path, place))
          .catch(failed);
    }),
    watch((now) => now === 'anew' && load().catch(failed)),
  ];
  load().catch((error) =>
    error.status === 404 ? fill(element, h('p', {}, t.missing)) : failed(error),
  );
  body.catch((error) => fill(place, trouble(error)));
  return view;
}

function trouble(error) {
  return h(
    'div',
    { class: 'trouble' },
    h('p', {}, plainLines(error.message)),
    error.hint && h('p', { class: 'hint' }, plainLines(error.hint)),
  );
}

async function tools(path, place) {
  if (!place.firstChild) fill(place, h('p', { class: 'quiet' }, text.common.asking));
  const list = new ToolList(path, await get(`${path}/tools`));
  const again = button(
    t.again,
    () => act(again, async () => list.update(await get(`${path}/tools?refresh=1`))),
    { class: 'button small' },
  );
  fill(place, list.element, again);
}

async function logs(path, place) {
  const shown = h('pre', { class: 'logs', tabindex: '0', 'aria-label': t.written });
  const load = async () => {
    const { lines } = await get(`${path}/logs`);
    shown.textContent = lines.length
      ? plainLines(lines.join('\n'))
      : t.nothing;
    shown.scrollTop = shown.scrollHeight;
  };
  const again = button(t.loadAgain, () => act(again, load), { class: 'button small' });
  fill(place, h('p', { class: 'quiet' }, t.wroteTo), shown, again);
  await load();
}
