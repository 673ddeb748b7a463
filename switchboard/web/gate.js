// What is shown without a valid token.

import { decoded, tryToken } from './api.js';
import { fill, h, insert } from './dom.js';
import { labelled } from './fields.js';
import { loginLink, ways } from './login.js';
import { text } from './text.js';

const t = text.gate;

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
    labelled(t.link, input),
    problem,
    h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'button primary' }, t.open)),
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
      shown.textContent = error.status === 401 ? t.wrong : error.message;
    }
    return undefined;
  });
  const steps = h('p', { class: 'quiet' }, insert(t.steps, h('code', {}, 'switchboard serve')));
  const main = h(
    'main',
    { class: 'gate', id: 'main' },
    h('h1', {}, 'Switchboard'),
    why && h('p', { class: 'warning' }, why),
    steps,
    form,
  );
  fill(root, main);
  input.focus();
  ways().then((found) => {
    if (!found || found.links) return;
    // A team's users log in, or have a token of their own.
    fill(steps, found.openid ? t.orToken : t.useToken);
    input.placeholder = 'sbp_…';
    form.querySelector('label').textContent = t.token;
    if (found.openid) main.insertBefore(loginLink(found), steps);
  });
}
