// One message: what was said, with the calls where they were made.

import { CallView } from './call.js';
import { arrange, fill, h, icon, say } from './dom.js';
import { when } from './format.js';
import { Prose, copyText } from './prose.js';
import { segments } from './segments.js';
import { go } from './router.js';
import { post } from './api.js';
import { act, notice } from './notices.js';

/** A notice longer than this is folded. */
const SHORT = 100;

export class MessageView {
  constructor(message, talk) {
    this.talk = talk;
    this.user = message.role !== 'assistant';
    this.texts = [];
    this.calls = new Map();
    this.spoken = 0;
    this.body = h('div', { class: 'body' });
    const name = h('h2', { class: 'hidden' }, this.user ? 'You' : 'Assistant');
    this.copy = h('button', { type: 'button', class: 'text-button' }, icon('copy'), h('span', {}, 'Copy'));
    this.copy.addEventListener('click', () => copyText(this.message.content, this.copy));
    this.fork = h(
      'button',
      { type: 'button', class: 'text-button', title: 'A new chat with everything up to here' },
      icon('fork'),
      h('span', {}, 'Fork'),
    );
    this.fork.addEventListener('click', () => act(this.fork, () => this.forkHere()));
    this.facts = h('span', { class: 'facts' });
    this.foot = h('div', { class: 'message-foot' }, this.facts, this.copy, this.user ? null : this.fork);
    this.thoughts = h('pre', {});
    this.thinking = h(
      'details',
      { class: 'thoughts', hidden: true },
      h('summary', {}, 'Thoughts'),
      this.thoughts,
    );
    this.notes = h('ul', { class: 'notes', hidden: true });
    this.busy = h(
      'p',
      { class: 'working' },
      h('span', { class: 'dots', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')),
      h('span', { class: 'hidden' }, 'Working'),
    );
    this.element = h(
      'li',
      { class: `message ${message.role}`, dataset: { id: message.id } },
      name,
      this.notes,
      this.thinking,
      this.body,
      this.busy,
      this.foot,
    );
  }

  update(message, state, live) {
    const thoughts = state.thoughts[message.id];
    if (message === this.message && live === this.live && !live && state.questions === this.questions) return;
    this.message = message;
    this.live = live;
    this.questions = state.questions;
    if (this.user) say(this.body, message.content);
    else this.answer(message, state);
    const notes = state.notices[message.id];
    this.notes.hidden = !notes;
    if (notes && notes.length !== this.notes.children.length) fill(this.notes, notes.map(note));
    this.thinking.hidden = !thoughts;
    if (thoughts) say(this.thoughts, thoughts);
    const calling = message.toolCalls.some(({ status }) => status === 'pending' || status === 'invoking');
    this.busy.hidden = !live || calling;
    this.foot.hidden = live;
    this.fork.hidden = !message.finish;
    say(this.facts, when(message.createdAt));
  }

  answer(message, state) {
    const nodes = [];
    let texts = 0;
    for (const part of segments(message.content, message.toolCalls)) {
      if (part.calls) {
        for (const call of part.calls) nodes.push(this.call(call, state));
        continue;
      }
      this.texts[texts] ??= new Prose();
      this.texts[texts].update(part.text);
      nodes.push(this.texts[texts].element);
      texts += 1;
    }
    this.texts.length = texts;
    arrange(this.body, nodes);
  }

  call(call, state) {
    let view = this.calls.get(call.position);
    if (!view) {
      view = new CallView(this.talk);
      this.calls.set(call.position, view);
    }
    view.update(call, state);
    return view.element;
  }

  /** Text that is finished and was not given out before. */
  said(over) {
    if (this.user) return [];
    const done = this.texts.flatMap((text, place) =>
      over || place < this.texts.length - 1 ? text.shown.map(({ node }) => node.textContent) : text.settled(),
    );
    const fresh = done.slice(this.spoken);
    this.spoken = Math.max(this.spoken, done.length);
    return fresh;
  }

  async forkHere() {
    const copy = await post(`${this.talk.path}/fork`, { upto: this.message.seq });
    notice('Forked: this is the new chat.');
    go(`chat/${copy.id}`);
  }

  tick() {
    for (const view of this.calls.values()) view.tick();
  }

  leave() {
    for (const view of this.calls.values()) view.leave();
    this.element.remove();
  }
}

/** A notice; a long one opens. */
function note(text) {
  if (text.length <= SHORT) return h('li', {}, text);
  return h('li', {}, h('details', {}, h('summary', {}, `${text.slice(0, SHORT)}…`), text));
}
