// Dialogs: the browser's own, so that focus stays inside, Escape closes and focus comes back.

import { button, fresh, h, iconButton } from './dom.js';
import { contents, formOf } from './fields.js';
import { plain, plainLines } from './format.js';
import { releaseNotices } from './notices.js';
import { text } from './text.js';

const t = text.common;

/** Opens a dialog. Returns it; `close()` takes it away. What was filled in is not dropped unasked, if it `keeps`. */
export function openDialog(title, content, { wide = false, keeps = true } = {}) {
  const id = fresh('dialog');
  const heading = h('h2', { id }, plain(title));
  const head = h('header', { class: 'dialog-head' }, heading, iconButton('close', t.close, leave));
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
  let untouched = contents(dialog);
  dialog.addEventListener('kept', () => {
    untouched = contents(dialog);
  });
  // Fields that come later are no change of what was filled in.
  dialog.addEventListener('grows', ({ detail: add }) => {
    const touched = contents(dialog) !== untouched;
    add();
    if (!touched) untouched = contents(dialog);
  });
  async function leave() {
    if (
      !keeps ||
      contents(dialog) === untouched ||
      (await confirm(t.discardTitle, t.discardText, t.discard))
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
 * `other` is one more button that submits; `submit` gets the one that was used.
 */
export function openForm(title, fields, label, submit, { wide = false, controls = {}, other = null } = {}) {
  const yes = h('button', { type: 'submit', class: 'button primary' }, h('span', {}, label));
  const no = button(t.cancel, () => dialog.close());
  const form = formOf({
    fields,
    buttons: [no, yes, other].filter(Boolean),
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
export function confirm(title, about, label) {
  return new Promise((resolve) => {
    const yes = button(
      label,
      () => {
        resolve(true);
        dialog.close();
      },
      { class: 'button danger' },
    );
    const no = button(t.cancel, () => dialog.close(), { autofocus: true });
    const dialog = openDialog(title, [h('p', {}, plainLines(about)), h('div', { class: 'buttons end' }, no, yes)]);
    dialog.addEventListener('close', () => resolve(false));
  });
}
