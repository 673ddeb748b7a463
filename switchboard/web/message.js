// One message: what was said, with the calls where they were made.

import { Attached } from './attached.js';
import { CallView } from './call.js';
import { arrange, fill, h, icon, say } from './dom.js';
import { plain, plainLines, usage, when } from './format.js';
import { Prose, copyText } from './prose.js';
import { segments } from './segments.js';
import { go } from './router.js';
import { running } from './store.js';
import { Versions } from './versions.js';
import { post } from './api.js';
import { act, notice } from './notices.js';
import { text } from './text.js';

const t = text.chat;
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
    const name = h('h2', { class: 'hidden' }, this.user ? text.chats.you : text.chats.assistant);
    this.copy = h('button', { type: 'button', class: 'text-button' }, icon('copy'), h('span', {}, text.common.copy));
    this.copy.addEventListener('click', () => copyText(this.message.content, this.copy));
    this.fork = h(
      'button',
      { type: 'button', class: 'text-button', title: t.forkHelp },
      icon('fork'),
      h('span', {}, text.chats.fork),
    );
    this.fork.addEventListener('click', () => act(this.fork, () => this.forkHere()));
    this.facts = h('span', { class: 'facts' });
    this.versions = new Versions(talk, this.user, this.body);
    this.foot = h(
      'div',
      { class: 'message-foot' },
      this.facts,
      this.versions.elements,
      this.copy,
      this.user ? null : this.fork,
    );
    this.thoughts = h('pre', {});
    this.thinking = h(
      'details',
      { class: 'thoughts', hidden: true },
      h('summary', {}, t.thoughts),
      this.thoughts,
    );
    this.notes = h('ul', { class: 'notes', hidden: true });
    this.busy = h(
      'p',
      { class: 'working' },
      h('span', { class: 'dots', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')),
      h('span', { class: 'hidden' }, t.working),
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
    const busy = running(state);
    if (busy !== this.wasBusy) this.versions.update(message, busy);
    this.wasBusy = busy;
    if (message === this.message && live === this.live && !live && state.questions === this.questions) return;
    this.message = message;
    this.versions.update(message, busy);
    this.live = live;
    this.questions = state.questions;
    if (this.user) this.question(message);
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
    say(this.facts, [when(message.createdAt), ...usedBy(message)].join(' · '));
  }

  question(message) {
    say(this.body, message.content);
    this.body.hidden = !message.content;
    if (this.files || !message.attachments?.length) return;
    this.files = new Attached(message.attachments, this.talk);
    this.body.before(this.files.element);
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
    const done = this.texts.flatMap((it, place) =>
      over || place < this.texts.length - 1 ? it.shown.map(({ node }) => node.textContent) : it.settled(),
    );
    const fresh = done.slice(this.spoken);
    this.spoken = Math.max(this.spoken, done.length);
    return fresh;
  }

  async forkHere() {
    const copy = await post(`${this.talk.path}/fork`, { upto: this.message.seq });
    notice(t.forked);
    go(`chat/${copy.id}`);
  }

  /** Whether one of its calls waits for an answer. */
  asks() {
    return [...this.calls.values()].some((view) => view.panel || view.card);
  }

  tick() {
    for (const view of this.calls.values()) view.tick();
  }

  leave() {
    this.files?.leave();
    for (const view of this.calls.values()) view.leave();
    this.element.remove();
  }
}

/** Which models wrote an answer, and what that used. */
function usedBy({ usage: used }) {
  return used?.rounds ? [used.models.map(({ model }) => plain(model)).join(', '), usage(used)] : [];
}

/** A notice; a long one opens. */
function note(given) {
  const said = plainLines(given);
  if (said.length <= SHORT) return h('li', {}, said);
  return h('li', {}, h('details', {}, h('summary', {}, `${said.slice(0, SHORT)}…`), said));
}
