// The user's servers: a card each, with its state, what is wrong and what to do about it.

import { get, remove } from './api.js';
import { button, fill, h, link, say } from './dom.js';
import { confirm } from './dialog.js';
import { count } from './format.js';
import { listen, watch } from './live.js';
import { menuButton } from './menu.js';
import { act, failed } from './notices.js';
import { go } from './router.js';
import { addServer, importServers } from './server-add.js';
import { editServer } from './server-edit.js';
import { changeServer, exportServers, login, logout, testServer } from './server-actions.js';

const WORDS = {
  disabled: 'off',
  pending_trust: 'waits for your approval',
  connecting: 'connecting',
  connected: 'connected',
  degraded: 'connected, with problems',
  needs_auth: 'needs a login',
  reconnecting: 'connecting again',
  failed: 'failed',
  idle: 'idle',
};
const KINDS = { stdio: 'program', sse: 'HTTP+SSE', streamableHttp: 'HTTP', auto: 'HTTP' };

/** A server's state in words, with a coloured dot. */
export function statusBadge(server) {
  return h(
    'span',
    { class: `status ${server.status}` },
    h('i', { 'aria-hidden': 'true' }),
    WORDS[server.status] ?? server.status,
  );
}

/** Where a server is. */
export function endpoint(server) {
  return server.command ? [server.command, ...(server.args ?? [])].join(' ') : (server.baseUrl ?? '');
}

export function kindOf(server) {
  return KINDS[server.type] ?? server.type;
}

/** The demo server, which is used although it is not stored. */
export function builtIn() {
  const place = h('p', { class: 'quiet' });
  const reported =
    'As long as you have none, the demo model uses the built-in demo server: a clock, notes, a picture, and questions back. Its calls are asked for as any other’s are.';
  get('health').then(({ demo }) => demo && say(place, reported), failed);
  return place;
}

export function serversView() {
  const list = h('ul', { class: 'cards' });
  const empty = h(
    'div',
    { class: 'empty', hidden: true },
    h('p', {}, 'No servers yet.'),
    h(
      'p',
      { class: 'quiet' },
      'Paste the JSON that a server’s documentation shows, or import what your other programs use.',
    ),
    builtIn(),
  );
  const element = h(
    'div',
    { class: 'view' },
    h(
      'p',
      { class: 'lead' },
      'MCP servers bring tools. Each assistant chooses among them; a server that is off is never started.',
    ),
    list,
    empty,
  );
  const cards = new Map();

  function put(server) {
    const card = cards.get(server.id) ?? new ServerCard();
    cards.set(server.id, card);
    card.update(server);
    if (!card.element.isConnected) list.append(card.element);
    empty.hidden = cards.size > 0;
  }
  function drop(id) {
    cards.get(id)?.element.remove();
    cards.delete(id);
    empty.hidden = cards.size > 0;
  }
  async function load() {
    const { items } = await get('mcp-servers');
    const known = new Set(items.map(({ id }) => id));
    for (const id of [...cards.keys()]) if (!known.has(id)) drop(id);
    for (const server of items) put(server);
    empty.hidden = cards.size > 0;
  }
  const stop = [
    listen(({ kind, data }) => {
      if (kind === 'server.status' && data.server) put(data.server);
      else if (kind === 'server.deleted') drop(data.id);
      else if (kind.startsWith('server.') || kind.startsWith('mcp_')) load().catch(failed);
    }),
    watch((now) => now === 'anew' && load().catch(failed)),
  ];
  load().catch(failed);
  const tools = [
    button('Add', () => addServer(load), { class: 'button primary small', icon: 'add' }),
    menuButton('More about servers', [
      ['Import from other programs', () => importServers(load)],
      ['Export as JSON', () => exportServers().catch(failed)],
    ]),
  ];
  return { title: 'Servers', element, tools, leave: () => stop.forEach((end) => end()) };
}

class ServerCard {
  constructor() {
    this.name = h('h2', {});
    this.status = h('div', { class: 'card-status' });
    this.where = h('p', { class: 'where mono cut' });
    this.facts = h('p', { class: 'quiet small' });
    this.trouble = h('div', { class: 'trouble', hidden: true });
    this.found = h('div', { class: 'found', role: 'status' });
    this.switch = h('input', { type: 'checkbox', role: 'switch', class: 'switch' });
    this.switch.addEventListener('change', () => act(this.switch, () => this.turn()));
    this.buttons = h('div', { class: 'buttons' });
    this.element = h(
      'li',
      { class: 'card' },
      h('div', { class: 'card-head' }, this.name, this.status, this.switch),
      this.where,
      this.facts,
      this.trouble,
      this.buttons,
      this.found,
    );
  }

  update(server) {
    const before = JSON.stringify(this.server);
    this.server = server;
    if (before === JSON.stringify(server)) return;
    fill(this.name, link(`#/servers/${server.id}`, server.name));
    fill(this.status, statusBadge(server));
    say(this.where, endpoint(server));
    this.where.title = endpoint(server);
    const facts = [kindOf(server)];
    if (server.toolCount) facts.push(`${count(server.toolCount)} tools`);
    if (server.tokens) facts.push(`about ${count(server.tokens)} tokens to describe them`);
    if (server.source) facts.push(`from ${server.source}`);
    say(this.facts, facts.join(' · '));
    this.switch.checked = server.isActive;
    this.switch.setAttribute('aria-label', `Use ${server.name}`);
    const trouble = server.lastError && server.status !== 'connected' && server.status !== 'disabled';
    this.trouble.hidden = !trouble && !server.hint;
    fill(
      this.trouble,
      trouble && h('p', {}, server.lastError),
      server.hint && h('p', { class: 'hint' }, server.hint),
    );
    this.drawButtons();
  }

  drawButtons() {
    const { server } = this;
    const doing = (label, action, props = {}) => {
      const control = button(label, () => act(control, action), { class: 'button small', ...props });
      return control;
    };
    const trust =
      server.trust === 'pending' &&
      doing('Approve and start', () => this.save({ trust: 'allowed', isActive: true }), {
        class: 'button small primary',
      });
    const signIn =
      server.status === 'needs_auth' &&
      doing('Log in', () => login(server), { class: 'button small primary' });
    const test = doing('Test', async () => this.update(await testServer(server, this.found)));
    const edit = button('Edit', () => editServer(server, (changed) => this.update(changed)), {
      class: 'button small',
    });
    const more = menuButton(`More about ${server.name}`, [
      ['Tools', () => go(`servers/${server.id}`)],
      ['Resources', () => go(`servers/${server.id}/resources`)],
      ['Prompts', () => go(`servers/${server.id}/prompts`)],
      ['Logs', () => go(`servers/${server.id}/logs`)],
      server.baseUrl && ['Log in', () => login(server).catch(failed)],
      server.baseUrl && ['Log out', () => logout(server).then((it) => this.update(it), failed)],
      ['Remove', () => this.drop().catch(failed), true],
    ]);
    fill(
      this.buttons,
      trust,
      signIn,
      link(`#/servers/${server.id}`, 'Tools', { class: 'button small' }),
      test,
      edit,
      more,
    );
  }

  async turn() {
    try {
      await this.save({ isActive: this.switch.checked });
    } catch (error) {
      this.switch.checked = this.server.isActive;
      throw error;
    }
  }

  async save(fields) {
    this.update(await changeServer(this.server, fields));
  }

  async drop() {
    const { server } = this;
    const sure = await confirm(
      `Remove ${server.name}?`,
      'Its settings and the rules about its tools go with it. Chats keep what it said.',
      'Remove',
    );
    if (!sure) return;
    await remove(`mcp-servers/${server.id}`);
    this.element.remove();
  }
}
