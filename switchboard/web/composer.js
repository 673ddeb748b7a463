// Where a message is written: Enter sends, Shift+Enter is a new line.

import { h, icon, say } from './dom.js';
import { act } from './notices.js';

export class Composer {
  /** What was written and not sent is kept under `draft`, for as long as the tab is open. */
  constructor({ send, stop, foot, draft }) {
    this.busy = false;
    this.draft = `switchboard.draft.${draft}`;
    this.input = h('textarea', {
      rows: 1,
      id: 'composer',
      placeholder: 'Message',
      'aria-label': 'Message',
      autocomplete: 'off',
      'aria-describedby': 'composer-help',
    });
    this.label = h('span', { class: 'hidden' }, 'Send');
    this.drawing = h('span', { class: 'send-icon' }, icon('send'));
    this.control = h('button', { type: 'submit', class: 'send', title: 'Send' }, this.drawing, this.label);
    const help = h(
      'p',
      { class: 'hidden', id: 'composer-help' },
      'Enter sends, Shift and Enter make a new line.',
    );
    this.element = h(
      'form',
      { class: 'composer' },
      h('div', { class: 'composer-box' }, this.input, this.control),
      help,
      foot ?? h('p', { class: 'chat-foot quiet' }),
    );
    const submit = async (event) => {
      event.preventDefault();
      if (this.busy) {
        await act(this.control, stop);
        return;
      }
      const text = this.input.value.trim();
      if (!text) {
        this.input.focus();
        return;
      }
      await act(this.control, async () => {
        await send(text);
        this.input.value = '';
        this.keep();
        this.fit();
      });
      this.input.focus();
    };
    this.element.addEventListener('submit', submit);
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!this.busy) this.element.requestSubmit();
    });
    this.input.addEventListener('input', () => {
      this.keep();
      this.fit();
    });
    this.input.value = sessionStorage.getItem(this.draft) ?? '';
    if (this.input.value) requestAnimationFrame(() => this.fit());
  }

  keep() {
    if (this.input.value) sessionStorage.setItem(this.draft, this.input.value);
    else sessionStorage.removeItem(this.draft);
  }

  /** While an answer is in the making the button stops it; what is typed stays. */
  update(busy) {
    if (busy === this.busy) return;
    this.busy = busy;
    say(this.label, busy ? 'Stop' : 'Send');
    this.control.title = busy ? 'Stop' : 'Send';
    this.control.classList.toggle('stop', busy);
    this.drawing.replaceChildren(icon(busy ? 'stop' : 'send'));
  }

  suggest(text) {
    this.input.value = text;
    this.keep();
    this.fit();
    this.focus();
  }

  focus() {
    // On a phone the keyboard would cover what was opened.
    if (matchMedia('(hover: hover)').matches) this.input.focus({ preventScroll: true });
  }

  fit() {
    this.input.style.height = 'auto';
    this.input.style.height = `${this.input.scrollHeight}px`;
  }
}
