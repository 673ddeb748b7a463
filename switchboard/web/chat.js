// The chat: messages, what waits for an answer, and the composer.

import { ChatLog } from './log.js';
import { chatOptions } from './chat-head.js';
import { chatMenu } from './chat-menu.js';
import { Composer } from './composer.js';
import { post } from './api.js';
import { button, fill, h, say } from './dom.js';
import { usage } from './format.js';
import { act, failed, notice } from './notices.js';
import { setNotify, undecided } from './notify.js';
import { enqueue, queueView } from './queue.js';
import { go } from './router.js';
import { running, waiting } from './store.js';
import { Conversation } from './conversation.js';
import { text } from './text.js';
import { welcome } from './welcome.js';

const t = text.chat;
/** How many pages are loaded to find a message. */
const PAGES = 40;
/** What a chat that does not exist yet will begin with. */
let draft = {};
/** The first message of a new chat, by its id: sent as soon as that chat is open. */
let first = null;

/** The view of a conversation; without an id, of one that has not begun. */
export function chatView(id, seq = null) {
  return id === null ? newChat() : oldChat(id, seq === null ? null : Number(seq));
}

function newChat() {
  const composer = new Composer({
    draft: 'new',
    send: async (content, { files }) => {
      const conversation = await post('conversations', draft);
      draft = {};
      first = { id: conversation.id, content, files };
      go(`chat/${conversation.id}`);
    },
  });
  const greeting = welcome((words) => composer.suggest(words));
  const element = h('div', { class: 'chat' }, greeting.element, composer.element);
  composer.files.listen(element, composer.input);
  const options = chatOptions(
    () => draft,
    (changed) => {
      draft = { ...draft, ...changed };
    },
  );
  composer.chips.append(options.element);
  return {
    title: t.newTitle,
    element,
    tools: [],
    shown: () => composer.focus(),
    leave: () => greeting.leave(),
  };
}

function oldChat(id, seq) {
  const bar = h('div', { class: 'wait-bar', hidden: true });
  const foot = h('p', { class: 'chat-foot quiet' });
  const menu = h('div', {});
  let view;
  let begins = null;
  if (first?.id === id) [begins, first] = [first, null];
  const talk = new Conversation(id, () => render());
  const log = new ChatLog(talk);
  const composer = new Composer({
    send: async (content, files) => talk.send(content, await files.bodies()),
    stop: () => talk.stop(),
    queue: async (content, files) => enqueue(id, { content, attachments: await files.bodies() }),
    foot,
    draft: id,
  });
  const queued = queueView(id, ({ content }) => composer.suggest([content, composer.input.value].filter(Boolean).join('\n\n')));
  const options = chatOptions(
    () => talk.state.conversation ?? {},
    (changed) => talk.change(changed),
  );
  composer.chips.append(options.element);
  const element = h('div', { class: 'chat' }, log.element, bar, queued.element, composer.element);
  composer.files.listen(element, composer.input);

  function render() {
    const { state } = talk;
    if (state.deleted) {
      notice(t.deleted);
      go('', { replace: true });
      return;
    }
    log.update(state);
    composer.update(running(state));
    waitBar(bar, state, talk, log);
    say(foot, state.totals?.rounds ? t.used(usage(state.totals)) : '');
    options.update(state.conversation);
    // The menu says whether the chat is pinned.
    const kind = String(Boolean(state.conversation?.pinned));
    if (state.conversation && menu.dataset.kind !== kind) {
      menu.dataset.kind = kind;
      fill(menu, chatMenu(() => talk.state.conversation, { removed: () => go('', { replace: true }), label: text.chats.moreHere }));
    }
    view.entitle?.(state.conversation?.title || t.title);
  }

  /** Sends the first message; if that fails, it is where it was written. */
  async function begin({ content, files }) {
    composer.files.add(files);
    try {
      await talk.load();
      await talk.send(content, await composer.files.bodies());
    } catch (error) {
      composer.suggest(content);
      composer.files.refuse(error);
      throw error;
    }
    composer.files.clear();
  }
  async function open() {
    try {
      if (begins) await begin(begins);
      else await talk.load();
      if (seq !== null) await showMessage(talk, log, seq);
    } catch (error) {
      if (error.status === 404) fill(element, h('p', { class: 'view' }, t.missing));
      else failed(error);
    }
  }
  open();
  view = {
    title: t.title,
    element,
    tools: [menu],
    leave: () => {
      // What comes later is not about the view that is shown then.
      view.entitle = null;
      talk.leave();
      log.leave();
      queued.leave();
    },
    shown: () => composer.focus(),
  };
  return view;
}

/** Loads back to a message that was found, and shows it. */
async function showMessage(talk, log, seq) {
  const there = () => talk.state.messages.find((message) => message.seq === seq);
  for (let pages = 0; pages < PAGES && !there() && talk.state.older !== null; pages += 1) await talk.older();
  if (there()) log.showMessage(there().id);
}

/** Shows how many calls wait, and approves all of them at once. */
function waitBar(bar, state, talk, log) {
  const calls = waiting(state);
  const count = calls.length + state.questions.length;
  bar.hidden = count === 0;
  const key = `${calls.map(({ approval }) => approval.digest)}/${state.questions.length}`;
  if (bar.dataset.key === key) return;
  bar.dataset.key = key;
  if (count === 0) {
    fill(bar);
    return;
  }
  const show = button(t.show, () => log.showOpen());
  const all =
    calls.length > 1 &&
    button(t.approveAll(calls.length), () => act(all, () => approveAll(talk, calls)), {
      class: 'button primary',
    });
  fill(bar, h('span', {}, t.questions(count)), show, all, undecided() && offerNotices());
}

/** Asks once whether the desktop shall say so when a question waits. */
function offerNotices() {
  const answer = (on) => async (event) => {
    event.currentTarget.closest('.offer').remove();
    await setNotify(on).catch(failed);
  };
  return h(
    'span',
    { class: 'offer quiet small' },
    text.notify.offer,
    h('button', { type: 'button', class: 'link', onclick: answer(true) }, text.notify.yes),
    h('button', { type: 'button', class: 'link', onclick: answer(false) }, text.notify.no),
  );
}

async function approveAll(talk, calls) {
  for (const call of calls) {
    // One may have been answered elsewhere meanwhile: the others still count.
    await talk.decide(call, { decision: 'approve', scope: 'once' }).catch((error) => {
      if (error.status !== 409) throw error;
    });
  }
}
