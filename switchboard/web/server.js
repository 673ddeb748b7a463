// One server: its tools, resources, prompts and logs.

import { get, post } from './api.js';
import { button, fill, h, link } from './dom.js';
import { listen, watch } from './live.js';
import { act, failed, notice } from './notices.js';
import { SchemaForm } from './form.js';
import { plain, plainLines, pretty } from './format.js';
import { codeBlock } from './prose.js';
import { textBlock } from './result.js';
import { sandboxLines } from './sandbox.js';
import { testServer } from './server-actions.js';
import { editServer } from './server-edit.js';
import { endpoint, kindOf, statusBadge } from './servers.js';
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
  const edit = button(text.common.edit, () => editServer(server, draw), { class: 'button small' });

  function draw(it) {
    server = it;
    view.entitle?.(it.name);
    const trouble = it.lastError && it.status !== 'connected' && it.status !== 'disabled';
    fill(
      about,
      h(
        'div',
        { class: 'card-head' },
        statusBadge(it),
        h('span', { class: 'quiet' }, kindOf(it)),
        h('span', { class: 'mono cut grow' }, endpoint(it)),
        test,
        edit,
      ),
      sandboxLines(it),
      (trouble || it.hint) &&
        h(
          'div',
          { class: 'trouble' },
          trouble && h('p', {}, it.lastError),
          it.hint && h('p', { class: 'hint' }, it.hint),
        ),
    );
  }
  async function load() {
    draw(await get(path));
  }
  const stop = [
    listen(({ kind, data }) => {
      if (kind === 'server.status' && data.server?.id === id) draw(data.server);
      else if (kind === 'server.findings' && data.serverId === id && data.findings.length)
        notice(text.scan.found(data.server), 'warn');
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
    h('p', {}, error.message),
    error.hint && h('p', { class: 'hint' }, error.hint),
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

async function resources(path, place) {
  fill(place, h('p', { class: 'quiet' }, text.common.asking));
  const { items } = await get(`${path}/resources`);
  const rows = items.map((it) => {
    const shown = h('div', {});
    const read = button(
      t.read,
      () =>
        act(read, async () => {
          const result = await get(`${path}/resources/read?uri=${encodeURIComponent(it.uri)}`);
          const contents = result.contents ?? [];
          fill(
            shown,
            contents.map((part) =>
              part.text === undefined
                ? h('p', { class: 'quiet' }, t.bytes(part.mimeType ?? text.result.bytes))
                : textBlock(part.text),
            ),
          );
        }),
      { class: 'button small', 'aria-label': t.readLabel(plain(it.name ?? it.uri)) },
    );
    return h(
      'li',
      { class: 'line' },
      h(
        'div',
        { class: 'card-head' },
        h('strong', {}, plain(it.title ?? it.name ?? it.uri)),
        h('span', { class: 'mono cut grow quiet' }, plain(it.uri)),
        it.uri && !it.uriTemplate && read,
      ),
      it.description && h('p', { class: 'quiet' }, plainLines(it.description)),
      shown,
    );
  });
  fill(
    place,
    rows.length
      ? h('ul', { class: 'lines' }, rows)
      : h('p', { class: 'quiet' }, t.noResources),
  );
}

async function prompts(path, place) {
  fill(place, h('p', { class: 'quiet' }, text.common.asking));
  const { items } = await get(`${path}/prompts`);
  const rows = items.map((it) => {
    const properties = Object.fromEntries(
      (it.arguments ?? []).map((one) => [
        one.name,
        { type: 'string', title: one.title, description: one.description },
      ]),
    );
    const required = (it.arguments ?? []).filter((one) => one.required).map((one) => one.name);
    const form = new SchemaForm({ properties, required });
    const shown = h('div', {});
    const show = button(
      t.show,
      () =>
        act(show, async () => {
          const values = form.collect();
          if (!values) return;
          const result = await post(`${path}/prompts/${encodeURIComponent(it.name)}`, { arguments: values });
          fill(
            shown,
            (result.messages ?? []).map(({ role, content }) => [
              h('p', { class: 'quiet small' }, role),
              content?.type === 'text' ? textBlock(content.text) : codeBlock(pretty(content), 'json'),
            ]),
          );
        }),
      { class: 'button small', 'aria-label': t.showLabel(plain(it.name)) },
    );
    return h(
      'li',
      { class: 'line' },
      h('strong', {}, plain(it.title ?? it.name)),
      it.description && h('p', { class: 'quiet' }, plainLines(it.description)),
      form.element,
      show,
      shown,
    );
  });
  fill(
    place,
    rows.length
      ? h('ul', { class: 'lines' }, rows)
      : h('p', { class: 'quiet' }, t.noPrompts),
  );
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
