// The messages of a chat: added to at the end without moving what is being read, and at the
// beginning page by page.

import { button, h, icon, say } from './dom.js';
import { MessageView } from './message.js';
import { act, speak } from './notices.js';
import { running } from './store.js';
import { text } from './text.js';

/** Within this distance of the end, new content is scrolled into view. */
const NEAR = 64;
const t = text.chat;
/** After these there is nothing to continue. */
const FINAL = ['context_full', 'refused'];

export class ChatLog {
  constructor(talk) {
    this.talk = talk;
    this.views = new Map();
    this.olderButton = button(t.earlier, () => this.older(), { class: 'button small older' });
    this.list = h('ol', { class: 'messages' });
    this.endText = h('span', {});
    this.endButton = button(t.goOn, () => act(this.endButton, () => talk.proceed()), {
      class: 'button small',
      icon: 'play',
    });
    this.end = h('div', { class: 'ending', hidden: true }, this.endText, this.endButton);
    this.newest = h(
      'button',
      {
        type: 'button',
        class: 'newest',
        hidden: true,
        'aria-label': t.newest,
        title: t.newest,
        onclick: () => this.toEnd(),
      },
      icon('down'),
    );
    const column = h('div', { class: 'column' }, this.olderButton, this.list, this.end);
    this.scroller = h(
      'div',
      { class: 'log', tabindex: '0', role: 'region', 'aria-label': t.messages },
      column,
    );
    this.element = h('div', { class: 'log-place' }, this.scroller, this.newest);
    this.follows = true;
    this.scroller.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.scroller.addEventListener('grown', () => this.follows && this.toEnd());
    // What stands below may take some of the place.
    this.resized = new ResizeObserver(() => this.follows && this.toEnd());
    this.resized.observe(this.scroller);
    this.clock = setInterval(() => this.tick(), 1000);
    this.loadingOlder = false;
    this.first = true;
  }

  update(state) {
    const height = this.scroller.scrollHeight;
    const top = this.scroller.scrollTop;
    const grewBefore = this.list.firstChild && state.messages[0]?.id !== this.list.firstChild.dataset.id;
    const last = state.messages.at(-1);
    let at = this.list.firstChild;
    const shown = new Set();
    for (const message of state.messages) {
      shown.add(message.id);
      let view = this.views.get(message.id);
      if (!view) {
        view = new MessageView(message, this.talk);
        this.views.set(message.id, view);
      }
      view.update(message, state, message === last && running(state));
      view.element.classList.toggle('past', message !== last && !view.asks());
      if (view.element === at) at = at.nextSibling;
      else this.list.insertBefore(view.element, at);
    }
    for (const [id, view] of this.views) {
      if (shown.has(id)) continue;
      view.leave();
      this.views.delete(id);
    }
    this.updateEnd(state);
    this.olderButton.hidden = state.older === null;
    if (grewBefore) this.scroller.scrollTop = top + this.scroller.scrollHeight - height;
    else if (this.follows) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.newest.hidden = this.follows;
    this.tell(state, last);
  }

  updateEnd({ finished, conversation }) {
    const over = finished && !conversation?.running;
    const failed = finished?.message || t.noModel;
    const words = over && (finished.reason === 'error' ? failed : t.endings[finished.reason]);
    this.end.hidden = !words;
    if (words) say(this.endText, words);
    this.endButton.hidden = FINAL.includes(finished?.reason);
    say(this.endButton.querySelector('span'), finished?.reason === 'error' ? t.retry : t.goOn);
    this.end.classList.toggle('bad', finished?.reason === 'error');
  }

  /** Reads the answer out as it comes, paragraph by paragraph; what was loaded is not read out. */
  tell(state, last) {
    const view = last && this.views.get(last.id);
    if (!view) return;
    const silent = this.first;
    this.first = false;
    const texts = view.said(!running(state));
    if (!silent) for (const it of texts) speak(it);
  }

  async older() {
    if (this.loadingOlder) return;
    this.loadingOlder = true;
    await act(this.olderButton, () => this.talk.older());
    this.loadingOlder = false;
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.follows = scrollHeight - scrollTop - clientHeight < NEAR;
    this.newest.hidden = this.follows;
    if (scrollTop < 200 && !this.olderButton.hidden && scrollHeight > clientHeight) this.older();
  }

  toEnd() {
    this.follows = true;
    this.scroller.scrollTo({ top: this.scroller.scrollHeight });
    this.newest.hidden = true;
  }

  /** Brings a message into view once it is drawn, and marks it for a moment. */
  showMessage(id) {
    this.follows = false;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const element = this.views.get(id)?.element;
        if (!element) return;
        this.follows = false;
        element.scrollIntoView({ block: 'center' });
        element.classList.add('found-message');
        element.tabIndex = -1;
        element.focus({ preventScroll: true });
      }),
    );
  }

  /** Brings the first open question into view, and the focus to its first button. */
  showOpen() {
    const open = this.scroller.querySelector(
      '.approval .button.primary, .elicitation input, .elicitation select, .elicitation textarea, .elicitation .button',
    );
    open?.closest('.approval, .elicitation').scrollIntoView({ block: 'center' });
    open?.focus({ preventScroll: true });
  }

  tick() {
    for (const view of this.views.values()) view.tick();
  }

  leave() {
    this.resized.disconnect();
    clearInterval(this.clock);
    for (const view of this.views.values()) view.leave();
  }
}
