// The REST client: one function, one error type, and the access token.

import { text } from './text.js';

const KEY = 'switchboard.token';

/** An error reported by the server. */
export class ApiError extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
    this.details = error.details;
  }
}

/** Stores a valid token; an invalid one changes nothing. */
export async function tryToken(token) {
  const options = { headers: { Authorization: `Bearer ${token}` } };
  const answer = await send('health', options).catch(() => null);
  if (!answer?.ok) return false;
  localStorage.setItem(KEY, token);
  return true;
}

export function decoded(held) {
  try {
    return decodeURIComponent(held);
  } catch {
    return held;
  }
}

export function hasToken() {
  return localStorage.getItem(KEY) !== null;
}

export function forgetToken() {
  localStorage.removeItem(KEY);
}

/** Sends a request with the token, or else with the session. Fails only if there is no response. */
export function send(path, options = {}, token = localStorage.getItem(KEY)) {
  // No page of another site can send this header.
  const headers = { 'X-Switchboard-Page': '1', ...options.headers };
  if (token !== null) headers.Authorization ??= `Bearer ${token}`;
  return fetch(`api/${path}`, {
    cache: 'no-store',
    credentials: 'same-origin',
    redirect: 'error',
    ...options,
    headers,
  });
}

let refused = () => {};
/** Called when the token is rejected. */
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
      message: text.page.offline,
      hint: text.page.offlineHint,
    });
  }
  if (!response.ok) throw await failure(response);
  return response.status === 204 ? null : response.json();
}

async function failure(response) {
  const body = await response.json().catch(() => null);
  const error = new ApiError(
    response.status,
    body?.error ?? { code: 'internal', message: text.page.answered(response.status) },
  );
  if (error.status === 401) refused(error);
  return error;
}

export const get = (path) => ask('GET', path);
export const post = (path, body = {}) => ask('POST', path, body);
export const put = (path, body) => ask('PUT', path, body);
export const patch = (path, body) => ask('PATCH', path, body);
export const remove = (path) => ask('DELETE', path);

/** Fetches a resource as a blob. */
export async function bytes(path) {
  const response = await send(path);
  if (!response.ok) throw await failure(response);
  return response.blob();
}

/** A query string of the values that are set. */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value != null && value !== '');
  return given.length ? `?${new URLSearchParams(given)}` : '';
}

/** An error as one text. */
export function words(error) {
  const { message, hint } = error;
  if (!hint) return message;
  return `${/[.!?…]$/.test(message) ? message : `${message}.`} ${hint}`;
}
