// Forms: every control in a field, and every problem next to its control. Input that cannot be
// parsed is rejected where it was typed; nothing is dropped silently.

import { words } from './api.js';
import { fresh, h, say } from './dom.js';
import { number } from './form-values.js';
import { plainLines } from './format.js';
import { act } from './notices.js';
import { text } from './text.js';

const t = text.form;

/** A problem with the input of a control. */
export class FieldProblem extends Error {
  constructor(control, message) {
    super(message);
    this.control = control;
  }
}

/** A labelled field around a control, with a place for what is wrong with it. */
export function labelled(label, control, help) {
  control.id ||= fresh('field');
  const about = help && h('p', { class: 'help', id: `${control.id}-help` }, help);
  const problem = problemPlace(control.id);
  describe(control, about && about.id, problem.id);
  return h('div', { class: 'field' }, h('label', { for: control.id }, label), control, about, problem);
}

/** A labelled box to tick. */
export function ticked(label, control, help) {
  return h(
    'div',
    { class: 'field' },
    h('label', { class: 'check' }, control, h('span', {}, label)),
    help && h('p', { class: 'help' }, help),
  );
}

/** A list to choose from: `[value, label]` pairs. */
export function select(options, value, props = {}) {
  const control = h(
    'select',
    props,
    options.map(([key, label]) => h('option', { value: key }, label)),
  );
  control.value = value ?? '';
  return control;
}

/** Where the problem of the control of this id is shown. */
export function problemPlace(id) {
  return h('p', { class: 'problem', id: `${id}-problem`, hidden: true });
}

/** Sets the elements that describe a control. */
export function describe(control, ...ids) {
  control.setAttribute('aria-describedby', ids.filter(Boolean).join(' '));
}

/** Shows a problem at a control; without a text, clears it. */
export function mark(control, wrong = '') {
  const place = document.getElementById(`${control.id}-problem`);
  if (wrong) control.setAttribute('aria-invalid', 'true');
  else control.removeAttribute('aria-invalid');
  if (!place) return;
  say(place, plainLines(wrong));
  place.hidden = !wrong;
  if (wrong) place.dispatchEvent(new Event('grown', { bubbles: true }));
}

/** Focuses a control, unfolding the section it is in. */
export function goTo(control) {
  const folded = control.closest('details:not([open])');
  if (folded) folded.open = true;
  control.focus({ preventScroll: true });
  // With what is wrong with it, which stands below.
  (control.closest('.field, .pair') ?? control).scrollIntoView({ block: 'center' });
}

/** The number in a control, or null if it is empty. */
export function numberIn(control, label, { whole = false, min = 0, max = Infinity } = {}) {
  const found = number({ label, kind: whole ? 'integer' : 'number' }, control.value.trim());
  if (found.missing) return null;
  const { value } = found;
  if (found.problem) throw new FieldProblem(control, found.problem);
  if (value < min) throw new FieldProblem(control, t.low(label, min));
  if (value > max) throw new FieldProblem(control, t.high(label, max));
  return value;
}

/** The text in a control that must not be empty. */
export function textIn(control, label) {
  const value = control.value.trim();
  if (!value) throw new FieldProblem(control, t.needed(label));
  return value;
}

/**
 * A form: `action(button)` reads its controls and sends them. Problems stay in the form: those of a
 * `FieldProblem`, and of an error that names one of `controls` (the request's members), at the
 * control, which gets the focus; all others above the buttons. `controls` may be a function. `done(result)` is called if there
 * are none.
 */
export function formOf({ fields, buttons, yes, action, done, controls = {}, kind = 'form' }) {
  const problem = h('p', { class: 'problem form-problem', role: 'alert', hidden: true });
  const form = h(
    'form',
    { class: kind, method: 'dialog', novalidate: true },
    fields,
    problem,
    h('div', { class: 'buttons' }, buttons),
  );
  const tell = (wrong) => {
    say(problem, plainLines(wrong));
    problem.hidden = !wrong;
    if (wrong) problem.scrollIntoView({ block: 'nearest' });
  };
  const shown = (error) => {
    const member = error.details?.field;
    const named = typeof controls === 'function' ? controls(member) : controls[member];
    const control = error.control ?? (member && named);
    if (control) {
      mark(control, error.status === undefined ? error.message : words(error));
      goTo(control);
    } else {
      tell(words(error));
    }
  };
  form.addEventListener('input', ({ target }) => mark(target));
  form.addEventListener('tried', ({ detail: error }) => (error ? shown(error) : tell('')));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    for (const control of form.elements) if (control.id) mark(control);
    tell('');
    act(yes, async () => {
      let result;
      try {
        result = await action(event.submitter);
      } catch (error) {
        // A rejected token has a page of its own.
        if (error.status !== 401) shown(error);
        return;
      }
      await done(result);
    });
  });
  return form;
}

/** As `act`, for a button inside a form: what goes wrong is shown as if the form had been sent. */
export function actInForm(control, action) {
  const tell = (detail) => control.form.dispatchEvent(new CustomEvent('tried', { detail }));
  return act(control, async () => {
    tell(null);
    try {
      await action();
    } catch (error) {
      // A rejected token has a page of its own.
      if (error.status !== 401) tell(error);
    }
  });
}

/** The values of a form's controls, to detect changes. */
export function contents(root) {
  const controls = [...root.querySelectorAll('input, textarea, select')];
  return JSON.stringify(controls.map((it) => (it.type === 'checkbox' ? it.checked : it.value)));
}
