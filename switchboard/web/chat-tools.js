// Servers and tools that are switched off in one chat.

import { get } from './api.js';
import { openForm } from './dialog.js';
import { fill, h, link } from './dom.js';
import { plain, plainLines } from './format.js';
import { text } from './text.js';

const t = text.chatTools;

/** How many servers and tools are off. */
export function countOff(off) {
  return (off ?? []).reduce((sum, { tools }) => sum + (tools?.length ?? 1), 0);
}

/** The dialog; `change(off)` keeps what is switched off. */
export async function chooseTools(off, change) {
  const { items } = await get('mcp-servers');
  const active = items.filter(({ isActive, trust }) => isActive && trust !== 'pending');
  const rows = active.map((server) => new ServerRow(server, (off ?? []).find(({ serverId }) => serverId === server.id)));
  // What is off at servers that cannot be seen now stays.
  const unseen = (off ?? []).filter(({ serverId }) => !active.some(({ id }) => id === serverId));
  const fields = [
    h('p', { class: 'quiet' }, t.lead),
    rows.length ? h('ul', { class: 'lines' }, rows.map(({ element }) => element)) : h('p', {}, t.none),
    h('p', {}, link('#/tools', t.all)),
  ];
  openForm(t.title, fields, text.common.save, async () => {
    const now = [...unseen, ...rows.map((row) => row.value()).filter(Boolean)];
    await change(now.length ? now : null);
  });
}

class ServerRow {
  constructor(server, off) {
    this.server = server;
    this.without = new Set(off?.tools ?? []);
    this.on = h('input', { type: 'checkbox', role: 'switch', class: 'switch', checked: !off || off.tools != null });
    this.on.setAttribute('aria-label', t.useServer(plain(server.name)));
    this.place = h('div', { class: 'fields' });
    const details = h('details', {}, h('summary', {}, text.servers.toolsTab), this.place);
    details.addEventListener('toggle', () => details.open && this.load());
    const shown = () => {
      details.hidden = !this.on.checked;
    };
    this.on.addEventListener('change', shown);
    shown();
    this.element = h(
      'li',
      { class: 'line' },
      h('div', { class: 'card-head' }, h('strong', { class: 'grow' }, plain(server.name)), this.on),
      details,
    );
  }

  async load() {
    if (this.place.firstChild) return;
    fill(this.place, h('p', { class: 'quiet' }, text.common.asking));
    try {
      const { items } = await get(`mcp-servers/${this.server.id}/tools`);
      const tools = items.filter(({ enabled }) => enabled).map((tool) => this.tool(tool));
      const detail = () => fill(this.place, tools);
      this.place.closest('dialog')?.dispatchEvent(new CustomEvent('grows', { detail }));
    } catch (error) {
      fill(this.place, h('p', { class: 'problem' }, plainLines(error.message)));
    }
  }

  tool({ name, title }) {
    const box = h('input', { type: 'checkbox', checked: !this.without.has(name) });
    box.addEventListener('change', () => (box.checked ? this.without.delete(name) : this.without.add(name)));
    return h('label', { class: 'check' }, box, h('span', {}, plain(title ?? name)));
  }

  value() {
    const serverId = this.server.id;
    if (!this.on.checked) return { serverId, tools: null };
    return this.without.size ? { serverId, tools: [...this.without] } : null;
  }
}
