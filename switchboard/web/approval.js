// The approval panel of a tool call.

import { button, fill, h, say } from './dom.js';
import { plain, pretty, spelt } from './format.js';
import { labelled } from './fields.js';
import { menuButton } from './menu.js';
import { act, notice, speak } from './notices.js';
import { codeBlock } from './prose.js';
import { text } from './text.js';
import { hintBadges, toolOf } from './tool-facts.js';

const t = text.approval;
/** A longer description is folded. */
const SHORT = 240;

export class ApprovalPanel {
  constructor(call, talk) {
    this.call = call;
    this.talk = talk;
    this.digest = call.approval.digest;
    this.problem = h('p', { class: 'problem', role: 'alert', hidden: true });
    this.body = h('div', { class: 'approval-body' });
    this.badges = h('span', { class: 'marks' });
    const why = reason(call.approval);
    const title = t.title(plain(call.serverName) || t.server, plain(call.toolName));
    this.element = h(
      'div',
      { class: 'approval', role: 'group', 'aria-label': title, tabindex: '-1' },
      h('p', { class: 'approval-title' }, title, this.badges),
      why && h('p', { class: 'warning' }, why),
      about(call.approval),
      changes(call.approval),
      this.body,
      this.problem,
    );
    this.ask();
    this.element.addEventListener('keydown', onlyPressed, true);
    this.element.addEventListener('keydown', (event) => this.key(event));
    toolOf(call.serverName, call.toolName).then((tool) => this.describe(tool));
    speak(t.spoken(title));
  }

  ask() {
    const { call } = this;
    const yes = button(t.approve, () => this.answer(yes, { decision: 'approve', scope: 'once' }), {
      class: 'button primary',
      icon: 'check',
      ...keyed('a'),
    });
    const wide = menuButton(t.approveFor, this.scopes(), {
      text: t.approveFor,
      kind: 'button',
      drawing: 'chevron',
    });
    const edit = button(text.common.edit, () => this.edit(), { icon: 'edit', ...keyed('e') });
    const no = button(t.deny, () => this.deny(), { icon: 'close', ...keyed('d') });
    fill(
      this.body,
      codeBlock(pretty(call.arguments), t.arguments),
      h('div', { class: 'buttons' }, yes, wide, edit, no),
    );
    return yes;
  }

  describe(tool) {
    if (!tool) return;
    fill(this.badges, hintBadges(tool));
    this.element.dispatchEvent(new Event('grown', { bubbles: true }));
  }

  /**
   * A letter is an answer while one of the question's controls has the focus, and none is typed. The
   * focus that another question left to this one is on none of them.
   */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea')) return;
    if (event.target === this.element) return;
    const control = this.body.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!control) return;
    event.preventDefault();
    control.click();
  }

  scopes() {
    const choices = this.call.approval.choices;
    const offers = (scope) => !Array.isArray(choices) || choices.includes(scope);
    const scope = (name) => () =>
      this.answer(this.body.querySelector('.primary'), { decision: 'approve', scope: name });
    return [
      offers('conversation') && [t.thisChat, scope('conversation')],
      offers('tool') && [t.thisTool, scope('tool')],
      offers('server') &&
        Array.isArray(choices) && [
          t.thisServer(this.call.approval.readOnlyTools.map(plain).join(', ')),
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
      t.approveEdited,
      () => {
        let args;
        try {
          args = JSON.parse(input.value);
        } catch (error) {
          this.tell(t.notJson(error.message));
          input.focus();
          return;
        }
        this.answer(yes, { decision: 'approve', scope: 'once', args });
      },
      { class: 'button primary', icon: 'check' },
    );
    this.stage(labelled(t.argumentsJson, input), [yes], input);
  }

  deny() {
    const input = h('input', { type: 'text', placeholder: t.example, maxlength: 2000 });
    const say = (scope) => (control) =>
      this.answer(control, { decision: 'deny', scope, reason: input.value.trim() || undefined });
    const no = button(t.deny, () => say('once')(no), { class: 'button danger' });
    const never = button(t.never, () => say('tool')(never), {});
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.isComposing) return;
      event.preventDefault();
      say('once')(no);
    });
    this.stage(labelled(t.why, input), [no, never], input);
  }

  /** Shows an intermediate step; Escape and Back return to the question. */
  stage(field, buttons, focus) {
    const back = button(text.common.back, () => this.ask().focus());
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

  tell(wrong) {
    say(this.problem, spelt(wrong));
    this.problem.hidden = !wrong;
  }
}

/** A key that is held since another question had the focus answers nothing here. */
function onlyPressed(event) {
  const types = event.target.closest('input, textarea') && event.key !== 'Enter';
  if (!event.repeat || types || event.key === 'Tab') return;
  event.preventDefault();
  event.stopPropagation();
}

function keyed(key) {
  return { 'data-key': key, 'aria-keyshortcuts': key.toUpperCase() };
}

/** What the server says the tool does: its first lines, the rest on demand. */
function about({ description: given, definitionChanged }) {
  const description = spelt(given);
  if (!description) return null;
  if (definitionChanged) return h('p', { class: 'quiet' }, t.now(description));
  if (description.length <= SHORT) return h('p', { class: 'quiet approval-about' }, description);
  return h(
    'details',
    { class: 'approval-about' },
    h('summary', {}, `${description.slice(0, SHORT)}…`),
    h('p', { class: 'quiet' }, description),
  );
}

/** How the definition differs from the one that was approved. */
function changes({ changes: given }) {
  if (!given?.length) return null;
  const items = given.map(({ place, before, after }) => h('li', {}, t.change(plain(place), quoted(before), quoted(after))));
  return h('ul', { class: 'approval-changes' }, items);
}

const quoted = (part) => (part === undefined ? null : plain(part));

function reason({ reason: why, definitionChanged, alarm, secret }) {
  if (alarm) return text.scan.alarm(spelt(alarm));
  if (secret) return t.secret(plain(secret.name), plain(secret.server));
  if (definitionChanged || why === 'changed')
    return t.changed;
  return why === 'rule' ? t.rule : null;
}

function conflict({ code, message }) {
  if (code === 'already_answered')
    return t.answered;
  if (code === 'stale') return t.stale;
  return message;
}
