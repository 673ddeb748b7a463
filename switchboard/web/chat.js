// The chat: messages, what waits for an answer, and the composer.

import { ChatLog } from './log.js';
import { chatMenu, chatOptions } from './chat-head.js';
import { Composer } from './composer.js';
import { post } from './api.js';
import { button, fill, h, say } from './dom.js';
import { usage } from './format.js';
import { act, failed, notice } from './notices.js';
import { go } from './router.js';
import { running, waiting } from './store.js';
import { Conversation } from './conversation.js';
import { welcome } from './welcome.js';

/** What a chat that does not exist yet will begin with. */
let draft = {};
/** The first message of a chat, sent as soon as it is open. */
let first = null;

/** The view of a conversation; without an id, of one that has not begun. */
export function chatView(id) {
  return id === null ? newChat() : oldChat(id);
}

function newChat() {
  const composer = new Composer({
    draft: 'new',
    send: async (content) => {
      const conversation = await post('conversations', draft);
      draft = {};
      first = content;
      go(`chat/${conversation.id}`);
    },
  });
  const element = h(
    'div',
    { class: 'chat' },
    welcome((text) => composer.suggest(text)),
    composer.element,
  );
  const options = chatOptions(
    () => draft,
    (changed) => {
      draft = { ...draft, ...changed };
    },
  );
  return { title: 'New chat', element, tools: [options.element], shown: () => composer.focus() };
}

function oldChat(id) {
  const bar = h('div', { class: 'wait-bar', hidden: true });
  const foot = h('p', { class: 'chat-foot quiet' });
  let view;
  let spoken = null;
  const talk = new Conversation(id, () => render());
  const log = new ChatLog(talk);
  const composer = new Composer({
    send: (content) => talk.send(content),
    stop: () => talk.stop(),
    foot,
    draft: id,
  });
  const options = chatOptions(
    () => talk.state.conversation ?? {},
    (changed) => talk.change(changed),
  );
  const element = h('div', { class: 'chat' }, log.element, bar, composer.element);

  function render() {
    const { state } = talk;
    if (state.deleted) {
      notice('This chat was deleted.');
      go('', { replace: true });
      return;
    }
    log.update(state);
    composer.update(running(state));
    waitBar(bar, state, talk, log);
    say(foot, state.totals?.rounds ? `This chat: ${usage(state.totals)}` : '');
    options.update(state.conversation);
    view.entitle?.(state.conversation?.title || 'Chat');
  }

  async function open() {
    try {
      await talk.load();
      if (first !== null && spoken === null) {
        spoken = first;
        first = null;
        await talk.send(spoken).catch((error) => {
          composer.suggest(spoken);
          throw error;
        });
      }
    } catch (error) {
      if (error.status === 404) fill(element, h('p', { class: 'view' }, 'There is no such chat.'));
      else failed(error);
    }
  }
  open();
  view = {
    title: 'Chat',
    element,
    tools: [options.element, chatMenu(talk)],
    leave: () => {
      talk.leave();
      log.leave();
    },
    shown: () => composer.focus(),
  };
  return view;
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
  const text =
    count === 1 ? 'One question waits for your answer.' : `${count} questions wait for your answer.`;
  const show = button('Show', () => log.showOpen());
  const all =
    calls.length > 1 &&
    button(`Approve all ${calls.length}`, () => act(all, () => approveAll(talk, calls)), {
      class: 'button primary',
    });
  fill(bar, h('span', {}, text), show, all);
}

async function approveAll(talk, calls) {
  for (const call of calls) {
    // One may have been answered elsewhere meanwhile: the others still count.
    await talk.decide(call, { decision: 'approve', scope: 'once' }).catch((error) => {
      if (error.status !== 409) throw error;
    });
  }
}
