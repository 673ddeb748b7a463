// The block of a tool call: arguments, progress and result.

import { ApprovalPanel } from './approval.js';
import { fill, fresh, h, icon, say } from './dom.js';
import { ElicitationCard } from './elicitation.js';
import { plain, pretty, span } from './format.js';
import { codeBlock } from './prose.js';
import { ResultView, plainText } from './result.js';
import { asksForApproval, callKey, positionOf } from './store.js';
import { text } from './text.js';

const t = text.call;
const DRAWINGS = { pending: 'wait', queued: 'wait', invoking: 'tool', done: 'check', error: 'warn', denied: 'close', cancelled: 'close' };

export class CallView {
  constructor(talk) {
    this.talk = talk;
    this.result = new ResultView(talk);
    const id = fresh('call');
    this.sign = h('span', { class: 'call-sign' });
    this.name = h('span', { class: 'call-name' });
    this.server = h('span', { class: 'call-server' });
    this.state = h('span', { class: 'call-state' });
    this.time = h('span', { class: 'call-time', 'aria-hidden': 'true' });
    this.head = h(
      'button',
      { type: 'button', class: 'call-head', 'aria-expanded': 'false', 'aria-controls': id },
      this.sign,
      this.name,
      this.server,
      this.state,
      this.time,
      icon('chevron'),
    );
    this.head.addEventListener('click', () => this.toggle());
    this.glance = h('p', { class: 'call-glance', hidden: true });
    this.bar = h('progress', { class: 'call-bar', hidden: true, 'aria-label': t.progress });
    this.step = h('p', { class: 'call-step', hidden: true });
    this.question = h('div', {});
    this.details = h('div', { class: 'call-details', id, hidden: true });
    this.element = h(
      'section',
      { class: 'call' },
      this.head,
      this.bar,
      this.step,
      this.question,
      this.glance,
      this.result.media,
      this.details,
    );
    this.open = false;
    this.panel = null;
    this.card = null;
  }

  update(call, state) {
    const changed = call !== this.call;
    this.call = call;
    this.progress(state.progress[callKey(call)]);
    this.queue(call);
    this.updateQuestion(call, state);
    if (!changed) return;
    this.element.dataset.status = asksForApproval(call) ? 'asks' : call.status;
    const name = plain(call.toolName || call.displayName);
    this.element.setAttribute('aria-label', t.label(name));
    fill(this.sign, icon(DRAWINGS[call.status] ?? 'tool'));
    say(this.name, name);
    say(this.server, plain(call.serverName));
    say(this.state, stateWords(call));
    this.tick();
    this.result.update(call);
    const glance =
      ['done', 'error', 'denied', 'cancelled'].includes(call.status)
        ? plainText(call.response).split('\n', 1)[0]
        : '';
    say(this.glance, plain(glance.slice(0, 300)));
    this.glance.hidden = !glance || this.open;
    if (this.open) this.draw();
  }

  /** The open question of the call: its approval, or a question of its server. */
  updateQuestion(call, state) {
    const asks = asksForApproval(call);
    let had = false;
    if (this.panel && (!asks || this.panel.digest !== call.approval.digest)) {
      had = this.panel.element.contains(document.activeElement);
      this.panel.element.remove();
      this.panel = null;
    }
    if (asks && !this.panel) {
      this.panel = new ApprovalPanel(call, this.talk);
      this.question.append(this.panel.element);
    }
    if (had) this.passFocus();
    const asked = state.questions.find(
      (question) => question.messageId === call.messageId && positionOf(question) === call.position,
    );
    if (this.card && this.card.question.id !== asked?.id) {
      const had = this.card.element.contains(document.activeElement);
      this.card.element.remove();
      this.card = null;
      if (had) this.passFocus();
    }
    if (asked && !this.card) {
      this.card = new ElicitationCard(asked, this.talk);
      this.question.append(this.card.element);
    }
  }

  /**
   * Moves the focus to the question that is there now, or to the composer; never to a button: what
   * is being typed was meant for the question that went.
   */
  passFocus() {
    const next = this.panel?.element ?? document.querySelector('.approval') ?? document.getElementById('composer');
    next?.focus({ preventScroll: true });
  }

  progress(reported) {
    const shown = this.call.status === 'invoking' ? reported : null;
    this.bar.hidden = !shown;
    this.step.hidden = !shown?.message;
    if (!shown) return;
    if (shown.total) {
      this.bar.max = shown.total;
      this.bar.value = shown.progress;
    } else {
      this.bar.removeAttribute('value');
    }
    say(this.step, plain(shown.message));
  }

  /** Why the call waits for its turn at its server. */
  queue({ status, queued }) {
    if (status !== 'queued') return;
    this.step.hidden = !queued;
    say(this.step, queued ? t.queued(queued) : '');
  }

  tick() {
    const { startedAt, endedAt, status } = this.call;
    if (status === 'queued') say(this.time, '');
    if (!startedAt || (status === 'invoking' && endedAt)) return;
    const end = endedAt ? new Date(endedAt) : new Date();
    if (endedAt || status === 'invoking') say(this.time, span(end - new Date(startedAt)));
  }

  toggle() {
    this.open = !this.open;
    this.head.setAttribute('aria-expanded', String(this.open));
    this.details.hidden = !this.open;
    this.glance.hidden = this.open || !this.glance.textContent;
    if (this.open) this.draw();
  }

  draw() {
    const { call } = this;
    const raw = h(
      'details',
      { class: 'raw' },
      h('summary', {}, t.raw),
      codeBlock(pretty(call), 'json'),
    );
    const facts = [
      call.displayName && t.as(plain(call.displayName)),
      call.approvedBy && t.approvedBy(call.approvedBy),
    ]
      .filter(Boolean)
      .join(' · ');
    fill(
      this.details,
      h('h3', {}, t.arguments),
      codeBlock(pretty(call.arguments), 'json'),
      call.response && [h('h3', {}, call.isError ? t.error : t.result), this.result.text(call)],
      h('p', { class: 'quiet small' }, facts),
      raw,
    );
  }

  leave() {
    this.result.leave();
  }
}

function stateWords({ status, approval, startedAt }) {
  const states = t.states;
  if (status === 'pending') return approval ? states.asks : states.waits;
  if (status in states && status !== 'cancelled') return states[status];
  if (!startedAt) return states.denied;
  return status === 'cancelled' ? states.cancelled : states.failed;
}
