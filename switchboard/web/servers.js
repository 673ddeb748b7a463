// The user's servers: a card each, with its state, what is wrong and what to do about it.

import { get, remove } from './api.js';
import { button, fill, h, link, say } from './dom.js';
import { confirm } from './dialog.js';
import { count, plain, plainLines } from './format.js';
import { listen, watch } from './live.js';
import { menuButton } from './menu.js';
import { act, failed } from './notices.js';
import { go } from './router.js';
import { addServer, importServers } from './server-add.js';
import { editServer } from './server-edit.js';
import { review } from './server-review.js';
import { changeServer, exportServers, login, logout, testServer } from './server-actions.js';
import { text } from './text.js';

const t = text.servers;
/** Fewer than these are found without a search. */
const FEW = 6;

/** A server's state in words, with a coloured dot. */
export function statusBadge(server) {
  return h(
    'span',
    { class: `status ${server.status}` },
    h('i', { 'aria-hidden': 'true' }),
    t.status[server.status] ?? server.status,
  );
}

/** Where a server is. */
export function endpoint(server) {
  return plain(server.endpoint);
}

/** What is wrong with a server, and what to do about it; nothing if nothing is. */
export function troubleOf({ lastError, hint, status }) {
  const trouble = lastError && status !== 'connected' && status !== 'disabled';
  return [trouble && h('p', {}, plainLines(lastError)), hint && h('p', { class: 'hint' }, plainLines(hint))].filter(Boolean);
}

export function kindOf(server) {
  return t.kinds[server.type] ?? server.type;
}

export function serversView() {
  const list = h('ul', { class: 'cards dense' });
  const empty = h(
    'div',
    { class: 'empty', hidden: true },
    h('p', {}, t.empty),
    h('p', { class: 'quiet' }, t.emptyHelp),
  );
  const element = h(
    'div',
    { class: 'view' },
    h('p', { class: 'lead' }, t.lead),
    list,
    empty,
  );
  const cards = new Map();
  const find = h('input', {
    type: 'search',
    placeholder: t.find,
    'aria-label': t.find,
    hidden: true,
    oninput: () => filter(),
  });
  element.insertBefore(find, list);
  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { element: line, server } of cards.values()) {
      const known = `${server.name} ${server.endpoint} ${t.status[server.status] ?? ''}`.toLowerCase();
      line.hidden = !words.every((word) => known.includes(word));
    }
    find.hidden = cards.size < FEW && !find.value;
  }

  function put(server) {
    const card = cards.get(server.id) ?? new ServerCard();
    cards.set(server.id, card);
    card.update(server);
    if (!card.element.isConnected) list.append(card.element);
    empty.hidden = cards.size > 0;
    filter();
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
    button(text.common.add, () => addServer(load), { class: 'button primary small', icon: 'add' }),
    menuButton(t.more, [
      [t.importMenu, () => importServers(load)],
      [t.exportMenu, () => exportServers().catch(failed)],
    ]),
  ];
  return { title: text.page.places.servers, element, tools, leave: () => stop.forEach((end) => end()) };
}

class ServerCard {
  constructor() {
    this.name = h('h2', {});
    this.status = h('div', { class: 'card-status' });
    this.where = h('p', { class: 'where mono cut' });
    this.review = h('div', {});
    this.facts = h('p', { class: 'quiet small' });
    this.trouble = h('div', { class: 'trouble', hidden: true });
    this.found = h('div', { class: 'found', role: 'status' });
    this.switch = h('input', { type: 'checkbox', role: 'switch', class: 'switch' });
    this.switch.addEventListener('change', () => act(this.switch, () => this.turn()));
    this.buttons = h('div', { class: 'buttons' });
    this.element = h(
      'li',
      { class: 'card dense' },
      h('div', { class: 'card-head' }, this.name, this.status, this.buttons, this.switch),
      h('div', { class: 'card-facts' }, this.where, this.facts),
      this.review,
      this.trouble,
      this.found,
    );
  }

  update(server) {
    const before = JSON.stringify(this.server);
    this.server = server;
    if (before === JSON.stringify(server)) return;
    const pending = server.trust === 'pending';
    const name = plain(server.name);
    fill(this.name, link(`#/servers/${server.id}`, name));
    fill(this.status, statusBadge(server));
    say(this.where, endpoint(server));
    this.where.title = endpoint(server);
    this.where.hidden = pending;
    fill(this.review, pending && review(server));
    const facts = [kindOf(server)];
    if (server.toolCount) facts.push(t.tools(server.toolCount));
    if (server.tokens) facts.push(t.tokens(count(server.tokens)));
    if (server.builtIn) facts.push(t.builtIn);
    else if (server.source && !pending) facts.push(t.source(plain(server.source)));
    say(this.facts, facts.join(' · '));
    this.switch.checked = server.isActive;
    this.switch.setAttribute('aria-label', t.use(name));
    const trouble = troubleOf(server);
    this.trouble.hidden = trouble.length === 0;
    fill(this.trouble, trouble);
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
      doing(t.approve, () => this.save({ trust: 'allowed', isActive: true }), {
        class: 'button small primary',
      });
    const signIn =
      server.status === 'needs_auth' &&
      doing(t.logIn, () => login(server), { class: 'button small primary' });
    const test = doing(text.common.test, async () => this.update(await testServer(server, this.found)));
    const edit = button(text.common.edit, () => editServer(server, (changed) => this.update(changed)), {
      class: 'button small',
    });
    const more = menuButton(t.moreAbout(plain(server.name)), [
      [t.toolsTab, () => go(`servers/${server.id}`)],
      [t.resourcesTab, () => go(`servers/${server.id}/resources`)],
      [t.promptsTab, () => go(`servers/${server.id}/prompts`)],
      [t.logsTab, () => go(`servers/${server.id}/logs`)],
      server.baseUrl && [t.logIn, () => login(server).catch(failed)],
      server.baseUrl && [t.logOut, () => logout(server).then((it) => this.update(it), failed)],
      !server.builtIn && [text.common.remove, () => this.drop().catch(failed), true],
    ]);
    fill(
      this.buttons,
      trust,
      signIn,
      link(`#/servers/${server.id}`, t.toolsTab, { class: 'button small' }),
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
      text.common.removeTitle(plain(server.name)),
      t.removeText,
      text.common.remove,
    );
    if (!sure) return;
    await remove(`mcp-servers/${server.id}`);
    this.element.remove();
  }
}
