// What was written and not sent: kept for the tab, and beyond it the latest ones for the browser.

const OWN = 'switchboard.draft';
const ALL = 'switchboard.drafts';
/** As many are kept beyond their tabs, of this length at most. */
const MOST = 50;
const LONG = 100_000;

/** The drafts of all tabs, the latest last; of the user whose page this is. */
function place() {
  return `${ALL}.${localStorage.getItem('switchboard.user') ?? ''}`;
}

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
    localStorage.setItem(place(), JSON.stringify(kept.slice(-MOST)));
  } catch {
    // There is no room: the tab has it.
  }
}
