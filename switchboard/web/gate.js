// What is shown without a valid token.

import { decoded, tryToken } from './api.js';
import { fill, h } from './dom.js';
import { labelled } from './fields.js';

/** Asks for the link. `opened()` is called once its token is accepted. */
export function gate(root, why, opened) {
  const input = h('input', {
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'http://127.0.0.1:…/#token=…',
  });
  const problem = h('p', { class: 'problem', role: 'alert', hidden: true });
  const form = h(
    'form',
    { class: 'form' },
    labelled('The link, or the token in it', input),
    problem,
    h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'button primary' }, 'Open')),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const token = /token=([^&\s]+)/.exec(input.value)?.[1] ?? input.value.trim();
    if (!token) return input.focus();
    try {
      if (!(await tryToken(decoded(token)))) throw Object.assign(new Error(), { status: 401 });
      await opened();
    } catch (error) {
      const shown = document.contains(problem) ? problem : root.querySelector('.problem');
      shown.hidden = false;
      shown.textContent = error.status === 401 ? 'That token does not open this page.' : error.message;
    }
    return undefined;
  });
  const steps = h(
    'p',
    { class: 'quiet' },
    'Open the link that ',
    h('code', {}, 'switchboard serve'),
    ' printed when it started. It holds the key to this page; no one else on this machine or on the web can use it.',
  );
  fill(
    root,
    h(
      'main',
      { class: 'gate', id: 'main' },
      h('h1', {}, 'Switchboard'),
      why && h('p', { class: 'warning' }, why),
      steps,
      form,
    ),
  );
  input.focus();
}
