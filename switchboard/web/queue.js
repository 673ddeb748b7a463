// Messages that wait for the end of an answer: each chat's are sent one by one, as soon as its answer has
// ended by itself. After a stop or a failure they wait for their user.

import { get, post } from './api.js';
import { button, fill, h, iconButton } from './dom.js';
import { listen, watch } from './live.js';
import { act, failed } from './notices.js';
import { text } from './text.js';

const t = text.queue;
const KEPT = 'switchboard.queue';
/** As many wait in a chat. */
const MOST = 20;
/** By the chat's id: `{content, attachments}`, and whether they wait for their user. */
const chats = new Map();
const watchers = new Set();
let following = false;

function follow() {
  if (following) return;
  following = true;
  listen(({ kind, data }) => {
    if (kind === 'run.finished' && chats.has(data.conversationId)) ended(data.conversationId, data.reason).catch(failed);
    else if (kind === 'conversation.deleted') put(data.id, []);
  });
  // An end may have been missed.
  watch((now) => now === 'anew' && [...chats.keys()].forEach((id) => look(id).catch(failed)));
}

/** Adds a message to those that wait in a chat. */
export function enqueue(id, message) {
  follow();
  const { waits = [], paused = false } = chats.get(id) ?? {};
  if (waits.length >= MOST) throw new Error(t.full(MOST));
  put(id, [...waits, message], paused);
  // The answer may have ended while the message was made.
  look(id).catch(failed);
}

function put(id, waits, paused = false) {
  if (waits.length) chats.set(id, { waits, paused });
  else chats.delete(id);
  keep();
  for (const watcher of watchers) watcher(id);
}

/** Words outlive a reload of the tab; files do not. */
function keep() {
  const words = [...chats].map(([id, { waits }]) => [id, waits.filter((it) => !it.attachments.length).map((it) => it.content)]);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(words));
  } catch {
    // There is no room: they are here.
  }
}

/** What waited before the tab was loaded again waits for its user: a copy of the tab has it, too. */
export function restoreQueues() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? '[]');
  for (const [id, words] of kept) if (!chats.has(id)) put(id, words.map((content) => ({ content, attachments: [] })), true);
  if (chats.size) follow();
}

async function ended(id, reason) {
  if (reason === 'error' || reason in text.chat.endings) put(id, chats.get(id).waits, true);
  else await next(id);
}

async function look(id) {
  const { paused } = chats.get(id) ?? {};
  const { running } = await get(`conversations/${id}`);
  if (!running && !paused) await next(id);
}

/** Sends the first one. */
async function next(id) {
  const [first, ...rest] = chats.get(id)?.waits ?? [];
  if (!first) return;
  put(id, rest);
  try {
    await post(`conversations/${id}/messages`, first);
  } catch (error) {
    const now = chats.get(id)?.waits ?? [];
    // Another answer is under way: its end comes.
    const busy = error.status === 409;
    put(id, [first, ...now], !busy);
    if (!busy) throw error;
  }
}

/** The messages that wait in a chat; `edit(message)` takes one back. Returns the list, and how to leave it. */
export function queueView(id, edit) {
  const element = h('ul', { class: 'queued', 'aria-label': t.label, hidden: true });
  function draw() {
    const { waits = [], paused = false } = chats.get(id) ?? {};
    element.hidden = waits.length === 0;
    const without = (message) => put(id, (chats.get(id)?.waits ?? []).filter((it) => it !== message), paused);
    const rows = waits.map((message) => {
      const back = () => {
        without(message);
        edit(message);
      };
      return h(
        'li',
        {},
        h('span', { class: 'cut grow' }, message.content || t.files(message.attachments.length)),
        message.attachments.length === 0 && iconButton('edit', t.edit, back),
        iconButton('close', t.remove, () => without(message)),
      );
    });
    const send = button(t.send, () => act(send, () => next(id)), { class: 'button small' });
    fill(element, rows, paused && waits.length > 0 && h('li', { class: 'quiet' }, h('span', { class: 'grow' }, t.paused), send));
  }
  const watcher = (changed) => changed === id && draw();
  watchers.add(watcher);
  draw();
  return { element, leave: () => watchers.delete(watcher) };
}
