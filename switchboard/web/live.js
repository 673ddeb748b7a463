// Live events: one stream for all tabs, many listeners.

import { followTogether } from './stream-share.js';

const listeners = new Set();
const watchers = new Set();
let stop = null;
let line = 'lost';

/** Calls `listener(event)` for every event until the returned function is called. */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Calls `watcher(line)` whenever the line changes: `open`, `lost`; and with `anew` whenever events
 * may have been missed, so that what is shown must be loaded again.
 */
export function watch(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function lineState() {
  return line;
}

/** Connects; resolves once the user's stream is open for the first time. */
export function start(user, refused) {
  stop?.();
  return new Promise((resolve) => {
    let first = true;
    stop = followTogether({
      user,
      listen: (event) => {
        if (event.kind === 'reset') tell('anew');
        else for (const listener of [...listeners]) listener(event);
      },
      state: (now, gap) => {
        if (now === 'refused') return refused();
        line = now;
        tell(now);
        if (now === 'open' && gap && !first) tell('anew');
        if (now === 'open') first = false;
        return resolve();
      },
    });
  });
}

function tell(now) {
  for (const watcher of [...watchers]) watcher(now);
}
