// What was written and not sent: kept for the tab, and beyond it the latest ones for the browser.

const OWN = 'switchboard.draft';
const ALL = 'switchboard.drafts';
/** As many are kept beyond their tabs, of this length at most. */
const MOST = 50;
const LONG = 100_000;

let user = '';

/** From now on the drafts are this user's. */
export function keepDraftsOf(name) {
  user = name;
}

function place() {
  return `${ALL}.${user}`;
}

/** Who logs out leaves nothing behind. */
export function forgetDrafts() {
  sessionStorage.clear();
  localStorage.removeItem(place());
}

/** The drafts of all tabs, the latest last. */
function all() {
  try {
    const found = JSON.parse(localStorage.getItem(place()) ?? '[]');
    return Array.isArray(found) ? found.filter((it) => Array.isArray(it)) : [];
  } catch {
    return [];
  }
}

/** The draft of this name: of this tab, or else of the last one that had it. */
export function draftOf(name) {
  return sessionStorage.getItem(`${OWN}.${name}`) ?? all().find(([known]) => known === name)?.[1] ?? '';
}

/** Keeps a draft; an empty one is forgotten. */
export function keepDraft(name, words) {
  // This tab has none, whatever others have.
  sessionStorage.setItem(`${OWN}.${name}`, words);
  const rest = all().filter(([known]) => known !== name);
  const kept = words && words.length <= LONG ? [...rest, [name, words]] : rest;
  try {
    if (kept.length) localStorage.setItem(place(), JSON.stringify(kept.slice(-MOST)));
    else localStorage.removeItem(place());
  } catch {
    // There is no room: the tab has it.
  }
}
