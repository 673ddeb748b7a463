// Which view an address means. The part after # stays in the browser.

const ROUTES = [
  [/^$/, () => ['chat', null]],
  [/^chat\/([\w-]+)(?:\/(\d+))?$/, (id, seq) => ['chat', id, seq ?? null]],
  [/^servers$|^settings\/mcp$/, () => ['servers']],
  [/^servers\/([\w-]+)(?:\/(tools|resources|prompts|logs))?$/, (id, tab) => ['server', id, tab ?? 'tools']],
  [/^tools$/, () => ['tools']],
  [/^assistants$/, () => ['assistants']],
  [/^approvals$/, () => ['approvals']],
  [/^gateway$/, () => ['gateway']],
  [/^history$/, () => ['history']],
  [/^settings$/, () => ['settings']],
];

/** The view of an address such as `#/servers/7`: its name, and what it is about. */
export function route(hash) {
  const path = hash.replace(/^#\/?/, '').replace(/\/$/, '');
  for (const [pattern, view] of ROUTES) {
    const found = pattern.exec(path);
    if (found) return view(...found.slice(1));
  }
  return ['lost'];
}

/** Goes to a view; with `replace` the back button skips the one left. */
export function go(path, { replace = false } = {}) {
  const address = `#/${path}`;
  if (replace) {
    history.replaceState(null, '', address);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else {
    location.hash = address;
  }
}
