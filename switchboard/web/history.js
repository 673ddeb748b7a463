// All chats: found, opened, forked, saved, deleted.

import { get, post, query, remove } from './api.js';
import { button, fill, h, link } from './dom.js';
import { fileName } from './chat-head.js';
import { confirm } from './dialog.js';
import { when } from './format.js';
import { listen } from './live.js';
import { menuButton } from './menu.js';
import { act, failed } from './notices.js';
import { download } from './result.js';
import { go } from './router.js';

const PAGE = 50;
const TYPING = 200;

export function historyView() {
  const search = h('input', { type: 'search', placeholder: 'Find a chat', 'aria-label': 'Find a chat' });
  const list = h('ul', { class: 'lines' });
  const state = h('p', { class: 'quiet', role: 'status' });
  const more = button('Show more', () => act(more, () => load(false)), { class: 'button small' });
  more.hidden = true;
  const element = h('div', { class: 'view' }, search, list, state, more);
  let next = null;
  let asked = 0;
  const gone = new Set();
  const stop = listen(({ kind, data }) => {
    if (kind === 'conversation.deleted') drop(data.id);
  });

  /** A list that was asked for earlier may still name it. */
  function drop(id) {
    gone.add(id);
    list.querySelector(`[data-id="${CSS.escape(id)}"]`)?.remove();
  }

  async function load(anew) {
    asked += 1;
    const mine = asked;
    const page = await get(
      `conversations${query({ limit: PAGE, after: anew ? null : next, q: search.value.trim() })}`,
    );
    if (mine !== asked) return;
    if (anew) fill(list);
    list.append(...page.items.filter(({ id }) => !gone.has(id)).map(row));
    next = page.next;
    more.hidden = !next;
    state.textContent = list.children.length
      ? ''
      : search.value.trim()
        ? 'No chat has these words in its title.'
        : 'No chats yet.';
  }
  function row(chat) {
    const path = `conversations/${chat.id}`;
    const name = fileName(chat.title);
    const take = async () => {
      if (
        !(await confirm(
          `Delete “${chat.title}”?`,
          'Its messages and results go with it. This cannot be undone.',
          'Delete',
        ))
      )
        return;
      await remove(path);
      drop(chat.id);
    };
    const menu = menuButton(`More about ${chat.title}`, [
      ['Fork', () => post(`${path}/fork`).then(({ id }) => go(`chat/${id}`), failed)],
      ['Export as Markdown', () => download(`${path}/export?format=md`, `${name}.md`).catch(failed)],
      ['Export as JSON', () => download(`${path}/export?format=json`, `${name}.json`).catch(failed)],
      ['Delete', () => take().catch(failed), true],
    ]);
    const badge = chat.waiting
      ? h('span', { class: 'badge warn' }, 'waiting')
      : chat.running && h('span', { class: 'badge' }, 'answering');
    return h(
      'li',
      { class: 'line chat-line', dataset: { id: chat.id } },
      link(`#/chat/${chat.id}`, chat.title || 'Untitled', { class: 'cut grow' }),
      badge,
      h('span', { class: 'quiet small' }, chat.model ?? ''),
      h('time', { class: 'quiet small', datetime: chat.updatedAt }, when(chat.updatedAt)),
      menu,
    );
  }
  let typing = null;
  search.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => load(true).catch(failed), TYPING);
  });
  load(true).catch(failed);
  return { title: 'All chats', element, leave: stop };
}
