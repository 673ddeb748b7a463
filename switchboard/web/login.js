// Logging in at the team's OpenID provider, and out again.

import { forgetToken, get, post, send } from './api.js';
import { h } from './dom.js';
import { text } from './text.js';

const t = text.gate;

/** Takes the problem of a login, a code, out of the address bar; nothing if there is none. */
export function takeProblem() {
  const code = /^#problem=([a-z]+)$/.exec(location.hash)?.[1];
  if (!code) return null;
  history.replaceState(null, '', location.pathname + location.search);
  return t.problems[code] ?? t.problems.provider;
}

/** How one can come in; nothing if the server does not say. */
export function ways() {
  return get('login').catch(() => null);
}

/** Whether this browser is logged in. */
export async function hasSession() {
  if (!(await ways())?.openid) return false;
  const answer = await send('health').catch(() => null);
  return answer?.ok === true;
}

/** The button that leads to the provider, and back to the view that is open. */
export function loginLink({ issuer }) {
  const to = location.hash.startsWith('#/') ? `?to=${encodeURIComponent(location.hash)}` : '';
  const host = new URL(issuer).host;
  return h(
    'p',
    { class: 'buttons' },
    h('a', { class: 'button primary', href: `auth/login${to}` }, t.logIn(host)),
  );
}

/** Ends the session here, and at the provider if it has a page for that. */
export async function logOut() {
  const { url } = await post('logout');
  forgetToken();
  location.assign(url ?? '.');
}
