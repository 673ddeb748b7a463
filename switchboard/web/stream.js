// The stream of live events, by fetch (an EventSource cannot carry the token), taken up again after
// the last event seen. Nothing is lost and nothing comes twice.

import { send } from './api.js';
import { reader } from './sse.js';

/** Without a byte for this long, the connection is dead: the server sends one every 15 s. */
const SILENCE = 40_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;

/**
 * Follows the events. `listen(event)` gets each; `state('open' | 'lost' | 'refused')` reports the
 * connection. The second argument of `open` is whether events may have been missed. It begins after
 * the event `from`, and rests while the page is hidden unless `whileHidden`.
 */
export function follow({ listen, state, from = null, whileHidden = false }) {
  let lastId = from;
  let wait = FIRST_WAIT;
  let abort = null;
  let stopped = false;
  let wake = () => {};

  async function run() {
    while (!stopped) {
      if (rests()) await shown();
      try {
        await once();
      } catch (error) {
        if (error.refused) {
          state('refused');
          return;
        }
      }
      if (stopped || rests()) continue;
      state('lost');
      await pause(wait);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }

  async function once() {
    abort = new AbortController();
    let timer = setTimeout(() => abort.abort(), SILENCE);
    try {
      const headers = lastId === null ? {} : { 'Last-Event-ID': String(lastId) };
      const response = await send('events', {
        headers: { Accept: 'text/event-stream', ...headers },
        signal: abort.signal,
      });
      if (response.status === 401) throw Object.assign(new Error('refused'), { refused: true });
      if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
      state('open', lastId === null);
      wait = FIRST_WAIT;
      const parse = reader();
      const bytes = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await bytes.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => abort.abort(), SILENCE);
        for (const event of parse.push(value)) {
          if (event.id !== null) lastId = event.id;
          listen({ id: Number(event.id ?? 0), kind: event.kind, data: JSON.parse(event.data) });
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  function rests() {
    return document.hidden && !whileHidden;
  }

  function pause(time) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, time);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function shown() {
    return new Promise((resolve) => {
      wake = resolve;
    });
  }

  // Browsers limit connections per host: hidden tabs release theirs.
  function turned() {
    if (rests()) abort?.abort();
    else if (!document.hidden) wake();
  }
  const online = () => wake();
  document.addEventListener('visibilitychange', turned);
  addEventListener('online', online);
  run();
  return () => {
    stopped = true;
    document.removeEventListener('visibilitychange', turned);
    removeEventListener('online', online);
    abort?.abort();
    wake();
  };
}
