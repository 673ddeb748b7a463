// What can be done with a chat, wherever it is listed.

import { patch, post, remove } from './api.js';
import { h } from './dom.js';
import { confirm, openForm } from './dialog.js';
import { labelled } from './fields.js';
import { menuButton } from './menu.js';
import { failed, notice } from './notices.js';
import { download } from './result.js';
import { go } from './router.js';
import { text } from './text.js';

const t = text.chats;

/** The menu of a chat. `options.removed()` is called once it is gone. */
export function chatMenu(current, { removed = () => {}, label = null } = {}) {
  const chat = current();
  const path = `conversations/${chat.id}`;
  const title = () => current().title || t.untitled;
  const rename = () => {
    const input = h('input', { type: 'text', maxlength: 200, value: current().title ?? '' });
    openForm(t.renameTitle, labelled(t.title, input), t.rename, () =>
      patch(path, { title: input.value.trim() || t.untitled }),
    );
  };
  const save = (format) => () =>
    download(`${path}/export?format=${format}`, `${fileName(title())}.${format}`).catch(failed);
  const drop = async () => {
    if (!(await confirm(t.removeTitle(title()), t.removeText, t.remove))) return;
    await remove(path);
    removed();
  };
  const compact = async () => {
    const { begun } = await post(`${path}/compact`);
    notice(begun ? t.compacted : t.nothingToCompact);
  };
  return menuButton(label ?? t.more(title()), [
    [chat.pinned ? t.unpin : t.pin, () => patch(path, { pinned: !current().pinned }).catch(failed)],
    [t.rename, rename],
    [t.fork, () => post(`${path}/fork`).then(({ id }) => go(`chat/${id}`), failed)],
    [t.compact, () => compact().catch(failed)],
    [t.markdown, save('md')],
    [t.json, save('json')],
    [t.html, save('html')],
    [t.remove, () => drop().catch(failed), true],
  ]);
}

export function fileName(title) {
  return (
    (title || 'chat')
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60) || 'chat'
  );
}
