// Dialogs: the browser's own, so that focus stays inside, Escape closes and focus comes back.

import { button, fresh, h, iconButton } from './dom.js';
import { act } from './notices.js';

/** Opens a dialog. Returns it; `close()` takes it away. */
export function openDialog(title, content, { wide = false } = {}) {
  const id = fresh('dialog');
  const heading = h('h2', { id }, title);
  const head = h(
    'header',
    { class: 'dialog-head' },
    heading,
    iconButton('close', 'Close', () => dialog.close()),
  );
  const dialog = h(
    'dialog',
    { class: wide ? 'dialog wide-dialog' : 'dialog', 'aria-labelledby': id },
    head,
    h('div', { class: 'dialog-body' }, content),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const first = dialog.querySelector(
    '[autofocus], .dialog-body input:not([type=hidden]), .dialog-body select, .dialog-body textarea, .dialog-body button',
  );
  first?.focus();
  return dialog;
}

/** A dialog with a form. `submit()` may throw: the error is shown and the dialog stays. */
export function openForm(title, fields, label, submit, options = {}) {
  const yes = h('button', { type: 'submit', class: 'button primary' }, h('span', {}, label));
  const no = button('Cancel', () => dialog.close());
  const buttons = h('div', { class: 'buttons end' }, no, yes);
  const form = h('form', { class: 'form', method: 'dialog', novalidate: true }, fields, buttons);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const done = await act(yes, async () => (await submit()) ?? true);
    if (done === true) dialog.close();
  });
  const dialog = openDialog(title, form, options);
  return dialog;
}

/** Asks before something that cannot be undone. */
export function confirm(title, text, label) {
  return new Promise((resolve) => {
    const yes = button(
      label,
      () => {
        resolve(true);
        dialog.close();
      },
      { class: 'button danger' },
    );
    const no = button('Cancel', () => dialog.close(), { autofocus: true });
    const dialog = openDialog(title, [h('p', {}, text), h('div', { class: 'buttons end' }, no, yes)]);
    dialog.addEventListener('close', () => resolve(false));
  });
}

/** A labelled field around a control. */
export function labelled(label, control, help) {
  control.id ||= fresh('field');
  const text = help && h('p', { class: 'help', id: `${control.id}-help` }, help);
  if (text) control.setAttribute('aria-describedby', `${control.id}-help`);
  return h('div', { class: 'field' }, h('label', { for: control.id }, label), control, text);
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
