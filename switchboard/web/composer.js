// Where a message is written: Enter sends, Shift+Enter is a new line.

import { Attachments } from './attach.js';
import { ComposerPicker } from './composer-picker.js';
import { h, icon, iconButton, say } from './dom.js';
import { draftOf, keepDraft } from './drafts.js';
import { act } from './notices.js';
import { text } from './text.js';

const t = text.chat;

export class Composer {
  /** What was written and not sent is kept under `draft`; what is sent while an answer is made goes to `queue`. */
  constructor({ send, stop, queue, foot, draft }) {
    this.busy = false;
    this.draft = draft;
    this.input = h('textarea', {
      rows: 1,
      id: 'composer',
      placeholder: t.message,
      'aria-label': t.message,
      autocomplete: 'off',
      'aria-describedby': 'composer-help',
    });
    this.label = h('span', { class: 'hidden' }, t.send);
    this.drawing = h('span', { class: 'send-icon' }, icon('send'));
    this.control = h('button', { type: 'submit', class: 'send', title: t.send }, this.drawing, this.label);
    /** While an answer is made, one button stops it, and one lets the message wait. */
    this.later = iconButton('send', t.queue, () => this.element.requestSubmit(), { hidden: true });
    const help = h(
      'p',
      { class: 'hidden', id: 'composer-help' },
      t.composerHelp,
    );
    /** What is chosen for the next answer. */
    this.chips = h('div', { class: 'chips-place' });
    this.files = new Attachments();
    this.picker = new ComposerPicker(this);
    const box = h(
      'div',
      { class: 'composer-box' },
      this.files.button,
      this.files.picker,
      this.input,
      this.later,
      this.control,
    );
    this.element = h(
      'form',
      { class: 'composer' },
      this.picker.element,
      this.files.list,
      box,
      this.chips,
      help,
      foot ?? h('p', { class: 'chat-foot quiet' }),
    );
    const submit = async (event) => {
      event.preventDefault();
      const stops = event.submitter === this.control;
      if (this.busy && stops) {
        await act(this.control, stop);
        return;
      }
      const words = this.input.value.trim();
      if (!words && this.files.empty) {
        this.input.focus();
        return;
      }
      await act(this.busy ? this.later : this.control, async () => {
        await this.sent(() => (this.busy ? queue : send)(words, this.files));
        this.files.clear();
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
      // As if by no button.
      this.element.requestSubmit();
    });
    this.input.addEventListener('input', () => {
      this.keep();
      this.fit();
    });
    this.input.value = draftOf(this.draft);
    if (this.input.value) requestAnimationFrame(() => this.fit());
  }

  /** Sends; a file that is not taken is marked. */
  async sent(send) {
    try {
      return await send();
    } catch (error) {
      this.files.refuse(error);
      throw error;
    }
  }

  keep() {
    keepDraft(this.draft, this.input.value);
    this.later.hidden = !this.busy || !this.input.value.trim();
  }

  /** While an answer is in the making the button stops it; what is typed stays. */
  update(busy) {
    if (busy === this.busy) return;
    this.busy = busy;
    say(this.label, busy ? t.stop : t.send);
    this.control.title = busy ? t.stop : t.send;
    this.control.classList.toggle('stop', busy);
    this.drawing.replaceChildren(icon(busy ? 'stop' : 'send'));
    this.later.hidden = !busy || !this.input.value.trim();
  }

  suggest(words) {
    this.input.value = words;
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
