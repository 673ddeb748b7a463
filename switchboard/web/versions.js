// Versions of a message: another answer, an edited question, and the way from one to the other.

import { button, fill, h, iconButton } from './dom.js';
import { act } from './notices.js';
import { text } from './text.js';

/** What stands in the foot of a message about its versions. */
export class Versions {
  constructor(talk, user, body) {
    this.talk = talk;
    this.body = body;
    this.place = h('span', {});
    const step = (by) => () => {
      const { ids, at } = this;
      const to = ids[at + by];
      if (to) act(this.chooser, () => talk.show(to));
    };
    this.before = iconButton('back', text.versions.before, step(-1));
    this.after = iconButton('forward', text.versions.after, step(1));
    this.chooser = h('span', { class: 'versions', hidden: true }, this.before, this.place, this.after);
    this.again = user
      ? button(text.versions.edit, () => this.edit(), { class: 'text-button', icon: 'edit' })
      : button(text.versions.again, () => act(this.again, () => talk.regenerate(this.message.id)), {
          class: 'text-button',
          icon: 'again',
        });
    this.elements = [this.chooser, this.again];
  }

  update(message, busy) {
    this.message = message;
    this.ids = message.versions ?? [];
    this.at = this.ids.indexOf(message.id);
    this.chooser.hidden = this.ids.length < 2;
    this.place.textContent = text.versions.of(this.at + 1, this.ids.length);
    this.before.disabled = busy || this.at <= 0;
    this.after.disabled = busy || this.at >= this.ids.length - 1;
    this.again.hidden = busy;
  }

  /** Turns the message into a form; what is sent becomes another version. */
  edit() {
    if (this.body.hidden && this.body.nextElementSibling?.classList.contains('edit-message')) return;
    const input = h('textarea', { 'aria-label': text.versions.editLabel, rows: 3, value: this.message.content });
    const close = () => {
      form.remove();
      this.body.hidden = !this.message.content;
      this.again.focus();
    };
    const send = h('button', { type: 'submit', class: 'button primary' }, text.versions.send);
    const form = h(
      'form',
      { class: 'edit-message' },
      input,
      h('div', { class: 'edit-actions' }, button(text.versions.cancel, close), send),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const said = input.value.trim();
      if (!said) return input.focus();
      return act(send, async () => {
        await this.talk.send(said, [], this.message.id);
        form.remove();
      });
    });
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') close();
    });
    this.body.hidden = true;
    this.body.after(form);
    input.focus();
  }
}
