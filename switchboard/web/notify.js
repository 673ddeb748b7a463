// Notifications on the desktop: a question waits, and the page is not looked at.

import { go } from './router.js';
import { text } from './text.js';

const KEY = 'switchboard.notify';
const t = text.notify;

/** Whether this browser can notify at all. */
export function canNotify() {
  return 'Notification' in globalThis && Notification.permission !== 'denied';
}

/** Whether the user was not asked yet. */
export function undecided() {
  return canNotify() && localStorage.getItem(KEY) === null;
}

export function notifies() {
  return canNotify() && localStorage.getItem(KEY) === 'on' && Notification.permission === 'granted';
}

/** Turns notifications on or off; on needs the browser's permission. Returns whether they are on. */
export async function setNotify(on) {
  const allowed = on && (await Notification.requestPermission()) === 'granted';
  localStorage.setItem(KEY, allowed ? 'on' : 'off');
  return allowed;
}

/** Says that a chat waits, unless the page is in view. The tabs of the page share one notification. */
export function notifyOf(chat) {
  if (!notifies() || !document.hidden) return;
  const shown = new Notification(t.title, { body: chat.title || text.chats.untitled, tag: `chat-${chat.id}` });
  shown.addEventListener('click', () => {
    shown.close();
    focus();
    go(`chat/${chat.id}`);
  });
}
