// Ways in: the links of this machine, logging in at the team's OpenID provider, and out again.

import { decoded, forgetToken, get, post, send, tryToken } from './api.js';
import { h } from './dom.js';
import { forgetDrafts } from './drafts.js';
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

/**
 * Takes the token of a link, or a one-time code for it, out of the address bar, and keeps it if it is
 * valid. Any page can link to this one: where users log in no link counts, and a personal access token
 * never does, or whoever follows the link would work in its author's account. Returns false if there
 * was one that does not count.
 */
export async function takeToken(found) {
  const brought = /[#&](token|code)=([^&]+)/.exec(location.hash);
  if (!brought) return true;
  history.replaceState(null, '', location.pathname + location.search);
  if (!found?.links) return false;
  const [, kind, held] = brought;
  const token = kind === 'token' ? decoded(held) : await redeemed(decoded(held));
  return token !== null && !token.startsWith('sbp_') && tryToken(token);
}

/** Exchanges a one-time code for a token; nothing if it was used already. */
async function redeemed(code) {
  const headers = { 'Content-Type': 'application/json' };
  const options = { method: 'POST', headers, body: JSON.stringify({ code }) };
  const answer = await send('token', options, null).catch(() => null);
  return answer?.ok ? (await answer.json()).token : null;
}

/** Whether this browser is logged in, whatever token it has. */
export async function hasSession(found) {
  if (!found?.openid) return false;
  const answer = await send('health', {}, null).catch(() => null);
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
  forgetDrafts();
  location.assign(url ?? '.');
}
