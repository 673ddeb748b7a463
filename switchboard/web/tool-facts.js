// What is known of a tool from its server: its annotations, as badges.

import { get } from './api.js';
import { h } from './dom.js';
import { listen } from './live.js';
import { text } from './text.js';

const t = text.tools;
let known = new Map();
let following = false;

/** A tool as its server describes it; nothing if the server cannot be asked. */
export async function toolOf(serverName, toolName) {
  if (!following) {
    following = true;
    listen(({ kind }) => kind.startsWith('server.') && known.clear());
  }
  if (!known.has(serverName)) known.set(serverName, toolsOf(serverName));
  const tools = await known.get(serverName).catch(() => []);
  return tools.find(({ name }) => name === toolName) ?? null;
}

async function toolsOf(serverName) {
  const { items: servers } = await get('mcp-servers');
  const server = servers.find(({ name }) => name === serverName);
  return server ? (await get(`mcp-servers/${server.id}/tools`)).items : [];
}

/** What a tool says of itself: it only reads, it changes something, it may destroy, it reaches out. */
export function hintBadges({ annotations }) {
  const hints = annotations ?? {};
  const found = [];
  if (hints.readOnlyHint === true) found.push([t.reads, 'good']);
  else if (hints.destructiveHint === false) found.push([t.changes, '']);
  else found.push([t.destroys, 'warn']);
  if (hints.openWorldHint === true) found.push([t.open, '']);
  return found.map(([words, kind]) => h('span', { class: `badge ${kind}` }, words));
}
