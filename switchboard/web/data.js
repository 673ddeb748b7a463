// The user's chats as a whole: saved in one file, or deleted.

import { bytes, get, query, remove } from './api.js';
import { confirm } from './dialog.js';
import { button, h, say } from './dom.js';
import { act, notice } from './notices.js';
import { saveFile } from './result.js';
import { text } from './text.js';

const PAGE = 100;
const t = text.data;

/** The section of the settings. */
export function dataSection() {
  const progress = h('p', { class: 'quiet', role: 'status' });
  const save = button(t.exportAll, () => act(save, () => exportAll(progress)));
  const drop = button(t.deleteAll, () => act(drop, () => deleteAll(progress)), { class: 'button danger' });
  return h(
    'section',
    {},
    h('h2', {}, t.title),
    h('p', { class: 'quiet' }, t.lead),
    h('div', { class: 'buttons' }, save, drop),
    progress,
  );
}

async function everyChat() {
  const found = [];
  let after = null;
  do {
    const { items, next } = await get(`conversations${query({ limit: PAGE, after })}`);
    found.push(...items);
    after = next;
  } while (after);
  return found;
}

async function exportAll(progress) {
  const chats = await everyChat();
  const conversations = [];
  try {
    for (const { id } of chats) {
      say(progress, t.progress(conversations.length, chats.length));
      conversations.push(JSON.parse(await (await bytes(`conversations/${id}/export?format=json`)).text()));
    }
  } finally {
    say(progress, '');
  }
  const whole = JSON.stringify({ exportedAt: new Date().toISOString(), conversations }, null, 2);
  saveFile(new Blob([whole], { type: 'application/json' }), 'switchboard-chats.json');
}

async function deleteAll(progress) {
  const chats = await everyChat();
  if (!chats.length) return notice(text.chats.noChats);
  if (!(await confirm(t.deleteTitle(chats.length), t.deleteText, t.deleteAll))) return undefined;
  let done = 0;
  try {
    for (const { id } of chats) {
      say(progress, t.progress(done, chats.length));
      await remove(`conversations/${id}`);
      done += 1;
    }
  } finally {
    say(progress, '');
  }
  return notice(t.deleted(done));
}
