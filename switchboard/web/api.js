// The REST interface: one function, one kind of error, and the token that opens it.

const KEY = 'switchboard.token';

/** What went wrong, in the words of the server. */
export class ApiError extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
    this.details = error.details;
  }
}

/**
 * Takes the token, or the one-time code for it, out of the address bar, and keeps it if it opens the
 * door: any page can link to this one. Gives back whether what was brought, if anything, is good.
 */
export async function takeToken() {
  const brought = /[#&](token|code)=([^&]+)/.exec(location.hash);
  if (!brought) return true;
  history.replaceState(null, '', location.pathname + location.search);
  const [, kind, held] = brought;
  const token = kind === 'token' ? decoded(held) : await redeemed(decoded(held));
  return token !== null && tryToken(token);
}

/** Keeps a token that opens the door; any other changes nothing. */
export async function tryToken(token) {
  const options = { headers: { Authorization: `Bearer ${token}` } };
  const answer = await send('health', options).catch(() => null);
  if (!answer?.ok) return false;
  localStorage.setItem(KEY, token);
  return true;
}

/** The token that a one-time code stands for; nothing if it was used. */
async function redeemed(code) {
  const headers = { 'Content-Type': 'application/json' };
  const options = { method: 'POST', headers, body: JSON.stringify({ code }) };
  const answer = await send('token', options).catch(() => null);
  return answer?.ok ? (await answer.json()).token : null;
}

export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hasToken() {
  return localStorage.getItem(KEY) !== null;
}

export function forgetToken() {
  localStorage.removeItem(KEY);
}

/** A request with the token. Fails only if nothing answers. */
export function send(path, options = {}) {
  const headers = { Authorization: `Bearer ${localStorage.getItem(KEY) ?? ''}`, ...options.headers };
  return fetch(`api/${path}`, {
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    ...options,
    headers,
  });
}

let refused = () => {};
/** Who is told when the token does not open the door. */
export function onRefused(listener) {
  refused = listener;
}

async function ask(method, path, body) {
  const options = { method };
  if (body !== undefined) {
    options.headers = { 'Content-Type': 'application/json' };
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await send(path, options);
  } catch {
    throw new ApiError(0, {
      code: 'offline',
      message: 'Switchboard does not answer.',
      hint: 'Is “switchboard serve” still running?',
    });
  }
  if (!response.ok) throw await failure(response);
  return response.status === 204 ? null : response.json();
}

async function failure(response) {
  const body = await response.json().catch(() => null);
  const error = new ApiError(
    response.status,
    body?.error ?? { code: 'internal', message: `The server answered ${response.status}.` },
  );
  if (error.status === 401) refused(error);
  return error;
}

export const get = (path) => ask('GET', path);
export const post = (path, body = {}) => ask('POST', path, body);
export const put = (path, body) => ask('PUT', path, body);
export const patch = (path, body) => ask('PATCH', path, body);
export const remove = (path) => ask('DELETE', path);

/** The bytes of an address, as something an image, a player or a download can use. */
export async function bytes(path) {
  const response = await send(path);
  if (!response.ok) throw await failure(response);
  return response.blob();
}

/** A query string without what is not there. */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value != null && value !== '');
  return given.length ? `?${new URLSearchParams(given)}` : '';
}

/** An error as one text for people. */
export function words(error) {
  const { message, hint } = error;
  if (!hint) return message;
  return `${/[.!?…]$/.test(message) ? message : `${message}.`} ${hint}`;
}
