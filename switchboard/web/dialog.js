// Dialogs: the browser's own, so that focus stays inside, Escape closes and focus comes back.

import { button, fresh, h, iconButton } from './dom.js';
import { contents, formOf } from './fields.js';
import { releaseNotices } from './notices.js';

/** Opens a dialog. Returns it; `close()` takes it away. What was filled in is not dropped unasked. */
export function openDialog(title, content, { wide = false } = {}) {
  const id = fresh('dialog');
  const heading = h('h2', { id }, title);
  const head = h('header', { class: 'dialog-head' }, heading, iconButton('close', 'Close', leave));
  const dialog = h(
    'dialog',
    { class: wide ? 'dialog wide-dialog' : 'dialog', 'aria-labelledby': id },
    head,
    h('div', { class: 'dialog-body' }, content),
  );
  dialog.addEventListener('close', () => {
    releaseNotices(dialog);
    dialog.remove();
  });
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    leave();
  });
  dialog.addEventListener('cancel', (event) => {
    if (event.target !== dialog) return;
    event.preventDefault();
    leave();
  });
  document.body.append(dialog);
  dialog.showModal();
  const untouched = contents(dialog);
  async function leave() {
    if (
      contents(dialog) === untouched ||
      (await confirm('Discard what you typed?', 'It has not been saved.', 'Discard'))
    )
      dialog.close();
  }
  const first = dialog.querySelector(
    '[autofocus], .dialog-body input:not([type=hidden]), .dialog-body select, .dialog-body textarea, .dialog-body button',
  );
  first?.focus();
  return dialog;
}

/**
 * A dialog with a form. `submit()` may throw: the error is shown in the form, at the control it is
 * about if it names one of `controls`, and the dialog stays. It stays, too, if `submit()` returns false.
 */
export function openForm(title, fields, label, submit, { wide = false, controls = {} } = {}) {
  const yes = h('button', { type: 'submit', class: 'button primary' }, h('span', {}, label));
  const no = button('Cancel', () => dialog.close());
  const form = formOf({
    fields,
    buttons: [no, yes],
    yes,
    action: submit,
    controls,
    done: (stays) => stays !== false && dialog.close(),
  });
  form.querySelector('.buttons').classList.add('end');
  const dialog = openDialog(title, form, { wide });
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
