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

/** Every tab that is in view holds a share of this lock. */
const VIEW = 'switchboard.in-view';
let seen = null;

/** From now on the other tabs know whether this one is in view. */
export function tellWhetherInView() {
  if (!navigator.locks) return;
  const turned = () => {
    seen?.();
    seen = null;
    if (!document.hidden)
      navigator.locks.request(
        VIEW,
        { mode: 'shared' },
        () => !document.hidden && !seen && new Promise((release) => (seen = release)),
      );
  };
  document.addEventListener('visibilitychange', turned);
  turned();
}

async function inView() {
  if (!document.hidden) return true;
  const { held } = await navigator.locks.query();
  return held.some(({ name }) => name === VIEW);
}

/** Says that a chat waits, unless a tab of the page is in view. The tabs share one notification. */
export async function notifyOf(chat) {
  if (!notifies() || (await inView())) return;
  const shown = new Notification(t.title, { body: chat.title || text.chats.untitled, tag: `chat-${chat.id}` });
  shown.addEventListener('click', () => {
    shown.close();
    focus();
    go(`chat/${chat.id}`);
  });
}
