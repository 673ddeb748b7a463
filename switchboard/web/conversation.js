// One conversation, loaded and then followed: the thin shell around the pure state in store.js.

import { get, patch, post, query } from './api.js';
import { listen, watch } from './live.js';
import { failed } from './notices.js';
import { apply, empty, load, prepend, waiting } from './store.js';

const PAGE = 50;

/** A conversation. `changed()` is called at most once a frame. */
export class Conversation {
  constructor(id, changed) {
    this.id = id;
    this.path = `conversations/${id}`;
    this.state = empty();
    this.loaded = false;
    this.failed = false;
    this.loads = 0;
    this.queue = [];
    this.changed = changed;
    this.due = false;
    this.unlisten = [
      listen((event) => this.take(event)),
      watch((now) => {
        if (now === 'anew' || (now === 'open' && this.failed)) this.load().catch(failed);
      }),
    ];
  }

  /**
   * Loads the newest page. Events that come meanwhile wait, so that none is missed or counted
   * twice; of several loads only the last one counts.
   */
  async load() {
    this.loads += 1;
    const mine = this.loads;
    this.loaded = false;
    this.failed = false;
    this.queue = [];
    try {
      // First, because it names the events it includes: nothing else may be older.
      const page = await get(`${this.path}/messages${query({ limit: PAGE })}`);
      const [conversation, questions, used] = await Promise.all([
        get(this.path),
        get(`${this.path}/questions`),
        get(`usage${query({ conversation: this.id })}`),
      ]);
      if (mine !== this.loads) return;
      this.state = { ...load(conversation, page, questions.items), totals: used };
    } catch (error) {
      if (mine !== this.loads) return;
      // It is tried again when the line is back; what comes until then is loaded with it.
      this.failed = true;
      throw error;
    }
    this.loaded = true;
    for (const event of this.queue.splice(0)) this.apply(event);
    this.tell();
  }

  async older() {
    if (this.state.older === null) return;
    const page = await get(`${this.path}/messages${query({ limit: PAGE, before: this.state.older })}`);
    this.state = prepend(this.state, page);
    this.tell();
  }

  /** Sends a message, perhaps in place of another one. */
  async send(content, attachments = [], instead = undefined) {
    const said = { content, attachments, instead };
    const { userMessage, assistantMessage } = await post(`${this.path}/messages`, said);
    // Which messages are shown now, the event says.
    if (instead) return;
    this.apply({ id: 0, kind: 'message.created', data: { message: userMessage } });
    this.apply({ id: 0, kind: 'message.created', data: { message: assistantMessage } });
  }

  regenerate(message) {
    return post(`${this.path}/regenerate`, { message });
  }

  /** Shows another version of a message. */
  show(message) {
    return post(`${this.path}/show`, { message });
  }

  stop() {
    return post(`${this.path}/cancel`);
  }

  proceed() {
    return post(`${this.path}/continue`);
  }

  /** Answers whether a call may run: exactly the question that was shown. */
  async decide(call, answer) {
    const body = { toolCallId: call.id, position: call.position, digest: call.approval?.digest, ...answer };
    const record = await post(`messages/${call.messageId}/tool-confirm`, body);
    // Events may be ahead of this reply.
    const known = waiting(this.state).some(
      (it) => it.messageId === call.messageId && it.position === call.position,
    );
    if (known && record) this.apply({ id: 0, kind: 'assistant.toolCall.updated', data: record });
  }

  async supply(question, answer) {
    await post(`elicitations/${question.id}`, { conversationId: this.id, ...answer });
    this.apply({ id: 0, kind: 'elicitation.resolved', data: { id: question.id } });
  }

  async change(fields) {
    const now = await patch(this.path, fields);
    // Whether it runs, the events know better.
    const { running, waiting: open, finish } = this.state.conversation;
    const conversation = { ...now, running, waiting: open, finish };
    this.apply({ id: 0, kind: 'conversation.updated', data: { conversation } });
  }

  leave() {
    for (const stop of this.unlisten) stop();
  }

  take(event) {
    const about =
      event.data.conversationId ?? event.data.message?.conversationId ?? event.data.conversation?.id;
    if (about && about !== this.id) return;
    if (event.kind === 'conversation.deleted' && event.data.id !== this.id) return;
    if (this.loaded) this.apply(event);
    else if (!this.failed) this.queue.push(event);
  }

  apply(event) {
    const before = this.state;
    this.state = apply(before, event);
    if (this.state.stale) {
      this.load().catch(failed);
      return;
    }
    if (this.state !== before) this.tell();
  }

  tell() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.changed();
    });
  }
}
