// A server asks the user something: a form, or a page to visit.

import { button, fill, h, link, say } from './dom.js';
import { SchemaForm } from './form.js';
import { plain, plainLines } from './format.js';
import { act, notice, speak } from './notices.js';
import { prose } from './prose.js';
import { text } from './text.js';

const t = text.question;

export class ElicitationCard {
  constructor(question, talk) {
    this.question = question;
    this.talk = talk;
    const asked = question.payload ?? question;
    const server = plain(question.server ?? asked.server ?? t.server);
    this.problem = h('p', { class: 'problem', role: 'alert', hidden: true });
    const title = t.title(server);
    // A server's message is Markdown.
    const message = prose(plainLines(asked.message));
    const body = asked.url ? this.page(asked) : this.form(asked);
    this.element = h(
      'section',
      { class: 'elicitation', 'aria-label': title },
      h('p', { class: 'approval-title' }, title),
      h('div', { class: 'asked' }, message),
      body,
      this.problem,
    );
    speak(t.spoken(title, message.textContent));
  }

  form({ requestedSchema }) {
    const fields = new SchemaForm(requestedSchema ?? {});
    this.fields = fields;
    const yes = h('button', { type: 'submit', class: 'button primary' }, h('span', {}, t.send));
    const form = h(
      'form',
      { class: 'form', novalidate: true },
      fields.element,
      h('div', { class: 'buttons' }, yes, this.decline()),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const content = fields.collect();
      if (content) this.answer(yes, { action: 'accept', content });
    });
    return form;
  }

  /** A page is never opened by itself: its whole address is shown first. */
  page({ url }) {
    const place = h('div', {});
    let host = '';
    try {
      host = new URL(url).host;
    } catch {
      return h('p', { class: 'warning' }, t.noAddress(plain(url)), this.decline());
    }
    const safe = /^https?:/.test(url);
    const open =
      safe &&
      link(url, h('span', {}, t.open(host)), {
        class: 'button primary',
        target: '_blank',
        rel: 'noopener noreferrer',
      });
    if (open) open.addEventListener('click', () => this.answer(null, { action: 'accept' }));
    return fill(
      place,
      h('p', { class: 'address' }, plain(url)),
      h('p', { class: 'quiet small' }, t.unseen),
      h('div', { class: 'buttons' }, open, this.decline()),
    );
  }

  decline() {
    const no = button(t.decline, () => this.answer(no, { action: 'decline' }));
    return no;
  }

  async answer(control, answer) {
    say(this.problem, '');
    this.problem.hidden = true;
    await act(control, async () => {
      try {
        await this.talk.supply(this.question, answer);
      } catch (error) {
        if (error.status === 409 || error.status === 404) {
          const elsewhere = ['asked_elsewhere', 'wrong_conversation'].includes(error.code);
          notice(elsewhere ? error.message : t.answered, 'warn');
          await this.talk.load();
        } else if (error.status === 422) {
          // At their fields, as far as there are some.
          const reported = error.details?.fields ?? [];
          const rest = reported.length && this.fields ? this.fields.refuse(reported) : [error.message];
          say(this.problem, rest.join(' '));
          this.problem.hidden = rest.length === 0;
        } else {
          throw error;
        }
      }
    });
  }
}
