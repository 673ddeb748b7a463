// All chats and what was said in them: found, opened, changed, saved, deleted.

import { get, query } from './api.js';
import { button, fill, h, link } from './dom.js';
import { chatMenu } from './chat-menu.js';
import { when } from './format.js';
import { listen } from './live.js';
import { act, failed } from './notices.js';
import { text } from './text.js';

const PAGE = 50;
const TYPING = 200;
const t = text.chats;

export function historyView() {
  const search = h('input', { type: 'search', placeholder: t.find, 'aria-label': t.find });
  const list = h('ul', { class: 'lines' });
  const state = h('p', { class: 'quiet', role: 'status' });
  const more = button(t.showMore, () => act(more, () => load(false)), { class: 'button small' });
  more.hidden = true;
  const found = h('ul', { class: 'lines' });
  const foundState = h('p', { class: 'quiet', role: 'status' });
  const titles = h('h2', { hidden: true }, t.inTitles);
  const messages = h('section', { hidden: true }, h('h2', {}, t.inMessages), found, foundState);
  const element = h('div', { class: 'view' }, search, titles, list, state, more, messages);
  const chats = new Map();
  let next = null;
  let asked = 0;
  const gone = new Set();
  const stop = listen(({ kind, data }) => {
    if (kind === 'conversation.deleted') drop(data.id);
    else if (kind === 'conversation.updated') changed(data.conversation);
  });

  /** A list that was asked for earlier may still name it. */
  function drop(id) {
    gone.add(id);
    for (const place of [list, found])
      for (const line of place.querySelectorAll(`[data-id="${CSS.escape(id)}"]`)) line.remove();
  }
  function changed(chat) {
    const line = list.querySelector(`[data-id="${CSS.escape(chat.id)}"]`);
    if (!line) return;
    const before = chats.get(chat.id);
    chats.set(chat.id, { ...before, ...chat });
    if (before.title !== chat.title || before.pinned !== chat.pinned) line.replaceWith(row(chats.get(chat.id)));
  }

  async function load(anew) {
    asked += 1;
    const mine = asked;
    const words = search.value.trim();
    const [page, hits] = await Promise.all([
      get(`conversations${query({ limit: PAGE, after: anew ? null : next, q: words })}`),
      words && anew ? get(`search${query({ q: words })}`) : null,
    ]);
    if (mine !== asked) return;
    if (anew) fill(list);
    list.append(...page.items.filter(({ id }) => !gone.has(id)).map(row));
    next = page.next;
    more.hidden = !next;
    titles.hidden = !words;
    messages.hidden = !words;
    if (hits) {
      fill(found, hits.items.filter(({ conversationId }) => !gone.has(conversationId)).map(hit));
      foundState.textContent = found.children.length ? '' : t.noMessage;
    }
    state.textContent = list.children.length ? '' : words ? t.noTitle : t.noChats;
  }
  function row(chat) {
    chats.set(chat.id, chat);
    const badge = chat.waiting
      ? h('span', { class: 'badge warn' }, t.waiting)
      : chat.running && h('span', { class: 'badge' }, t.answering);
    return h(
      'li',
      { class: 'line chat-line', dataset: { id: chat.id } },
      link(`#/chat/${chat.id}`, chat.title || t.untitled, { class: 'cut grow' }),
      chat.pinned && h('span', { class: 'badge' }, t.pinned),
      badge,
      h('span', { class: 'quiet small' }, chat.model ?? ''),
      h('time', { class: 'quiet small', datetime: chat.updatedAt }, when(chat.updatedAt)),
      chatMenu(() => chats.get(chat.id), { removed: () => drop(chat.id) }),
    );
  }
  function hit(it) {
    const who = it.role === 'user' ? t.you : t.assistant;
    return h(
      'li',
      { class: 'line hit', dataset: { id: it.conversationId } },
      link(
        `#/chat/${it.conversationId}/${it.seq}`,
        [h('span', { class: 'hit-text' }, it.excerpt), h('span', { class: 'quiet small' }, `${who} · ${it.title || t.untitled}`)],
        { class: 'grow hit-link' },
      ),
      h('time', { class: 'quiet small', datetime: it.createdAt }, when(it.createdAt)),
    );
  }
  let typing = null;
  search.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => load(true).catch(failed), TYPING);
  });
  load(true).catch(failed);
  return { title: text.page.places.history, element, leave: stop };
}
