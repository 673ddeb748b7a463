// One stream of live events for all tabs: the tab that holds a lock follows it and passes every event
// on. When that tab closes, the next one takes over after the last event it saw; one that stopped
// answering, as suspended tabs do, loses the lock to a tab that is in view.

import { follow } from './stream.js';

const NAME = 'switchboard.events';
/** How often a tab in view makes sure that the events still come. */
const CHECK = 30_000;
/** Within this time, the tab that follows answers the others. */
const ANSWER = 2000;

/** As `follow`, over a connection that all tabs of a user share where the browser can do that. */
export function followTogether({ user, listen, state }) {
  if (!navigator.locks || !globalThis.BroadcastChannel) return follow({ listen, state });
  const name = `${NAME}.${user}`;
  const channel = new BroadcastChannel(name);
  let lastId = null;
  let line = null;
  let leads = null;
  let stopped = false;
  let waiting = null;

  /** An event that another tab had passed on already comes again after a change of tabs. */
  function take(event) {
    if (event.kind === 'reset') lastId = null;
    else if (event.id) {
      if (lastId !== null && event.id <= lastId) return;
      lastId = event.id;
    }
    listen(event);
  }
  function tell(now, gap) {
    line = now;
    state(now, gap);
  }

  function lead() {
    clearTimeout(waiting);
    return new Promise((release) => {
      const stop = follow({
        from: lastId,
        whileHidden: true,
        listen(event) {
          channel.postMessage({ event });
          take(event);
        },
        state(now, gap) {
          channel.postMessage({ line: now, gap });
          tell(now, gap);
          if (now === 'refused') leads?.();
        },
      });
      leads = () => {
        leads = null;
        stop();
        release();
      };
    });
  }
  /** Waits for the lock; a tab that it is taken from waits again. */
  function queue(options = {}) {
    navigator.locks.request(name, options, () => (stopped ? null : lead())).catch(() => {
      leads?.();
      if (!stopped) queue();
    });
  }
  function check() {
    if (leads || document.hidden) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => !stopped && !leads && queue({ steal: true }), ANSWER);
    channel.postMessage({ ask: true });
  }

  channel.addEventListener('message', ({ data }) => {
    if (data.ask) {
      if (leads) channel.postMessage({ line });
      return;
    }
    clearTimeout(waiting);
    if (data.event) take(data.event);
    // The answer to a question changes nothing that is known.
    else if (data.line && (data.line !== line || data.gap)) tell(data.line, data.gap ?? false);
  });
  queue();
  check();
  const clock = setInterval(check, CHECK);
  document.addEventListener('visibilitychange', check);
  return () => {
    stopped = true;
    clearInterval(clock);
    clearTimeout(waiting);
    document.removeEventListener('visibilitychange', check);
    leads?.();
    channel.close();
  };
}
