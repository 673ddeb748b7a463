// The approval panel of a tool call.

import { button, fill, h, say } from './dom.js';
import { pretty } from './format.js';
import { labelled } from './fields.js';
import { menuButton } from './menu.js';
import { act, notice, speak } from './notices.js';
import { codeBlock } from './prose.js';

export class ApprovalPanel {
  constructor(call, talk) {
    this.call = call;
    this.talk = talk;
    this.digest = call.approval.digest;
    this.problem = h('p', { class: 'problem', role: 'alert', hidden: true });
    this.body = h('div', { class: 'approval-body' });
    const why = reason(call.approval);
    const title = `${call.serverName || 'A server'} wants to run ${call.toolName}`;
    this.element = h(
      'div',
      { class: 'approval', role: 'group', 'aria-label': title },
      h('p', { class: 'approval-title' }, title),
      why && h('p', { class: 'warning' }, why),
      call.approval.definitionChanged &&
        call.approval.description &&
        h('p', { class: 'quiet' }, `It now says: ${call.approval.description}`),
      this.body,
      this.problem,
    );
    this.ask();
    speak(`${title}. Approve or deny it.`);
  }

  ask() {
    const { call } = this;
    const yes = button('Approve', () => this.answer(yes, { decision: 'approve', scope: 'once' }), {
      class: 'button primary',
      icon: 'check',
    });
    const wide = menuButton('Approve for…', this.scopes(), {
      text: 'Approve for…',
      kind: 'button',
      drawing: 'chevron',
    });
    const edit = button('Edit', () => this.edit(), { icon: 'edit' });
    const no = button('Deny', () => this.deny(), { icon: 'close' });
    fill(
      this.body,
      codeBlock(pretty(call.arguments), 'arguments'),
      h('div', { class: 'buttons' }, yes, wide, edit, no),
    );
    return yes;
  }

  scopes() {
    const choices = this.call.approval.choices;
    const offers = (scope) => !Array.isArray(choices) || choices.includes(scope);
    const scope = (name) => () =>
      this.answer(this.body.querySelector('.primary'), { decision: 'approve', scope: name });
    return [
      offers('conversation') && ['This chat', scope('conversation')],
      offers('tool') && ['Always this tool', scope('tool')],
      offers('server') &&
        Array.isArray(choices) && [
          `Always this server’s read-only tools: ${this.call.approval.readOnlyTools.join(', ')}`,
          scope('server'),
        ],
    ];
  }

  edit() {
    const input = h('textarea', {
      class: 'mono',
      rows: Math.min(16, pretty(this.call.arguments).split('\n').length + 1),
      spellcheck: 'false',
    });
    input.value = pretty(this.call.arguments);
    const yes = button(
      'Approve with these',
      () => {
        let args;
        try {
          args = JSON.parse(input.value);
        } catch (error) {
          this.tell(`That is not JSON: ${error.message}`);
          input.focus();
          return;
        }
        this.answer(yes, { decision: 'approve', scope: 'once', args });
      },
      { class: 'button primary', icon: 'check' },
    );
    this.stage(labelled('Arguments, as JSON', input), [yes], input);
  }

  deny() {
    const input = h('input', { type: 'text', placeholder: 'Not on a Friday', maxlength: 2000 });
    const say = (scope) => (control) =>
      this.answer(control, { decision: 'deny', scope, reason: input.value.trim() || undefined });
    const no = button('Deny', () => say('once')(no), { class: 'button danger' });
    const never = button('Always deny this tool', () => say('tool')(never), {});
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.isComposing) return;
      event.preventDefault();
      say('once')(no);
    });
    this.stage(labelled('Why not? The model will see this.', input), [no, never], input);
  }

  /** Shows an intermediate step; Escape and Back return to the question. */
  stage(field, buttons, focus) {
    const back = button('Back', () => this.ask().focus());
    const place = h('div', { class: 'approval-step' }, field, h('div', { class: 'buttons' }, buttons, back));
    place.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.ask().focus();
    });
    this.tell('');
    fill(this.body, place);
    focus.focus();
  }

  async answer(control, answer) {
    this.tell('');
    await act(control, async () => {
      try {
        await this.talk.decide(this.call, answer);
      } catch (error) {
        if (error.status === 409) {
          notice(conflict(error), 'warn');
          await this.talk.load();
        } else if (error.status === 422 || error.status === 400) {
          this.tell(error.message);
        } else {
          throw error;
        }
      }
    });
  }

  tell(text) {
    say(this.problem, text);
    this.problem.hidden = !text;
  }
}

function reason({ reason: why, definitionChanged }) {
  if (definitionChanged || why === 'changed')
    return 'This tool has changed since you approved it. Look at it again.';
  return why === 'rule' ? 'A rule of yours asks for this one.' : null;
}

function conflict({ code, message }) {
  if (code === 'already_answered')
    return 'This was answered already, perhaps in another tab. Here is how it went on.';
  if (code === 'stale') return 'The tool or its arguments changed while you looked at them. Please look again.';
  return message;
}
