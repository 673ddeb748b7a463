// Light, dark, or as the system is. Loaded first, so that the page does not change its colours.

const KEY = 'switchboard.theme';
export const THEMES = ['system', 'light', 'dark'];

const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = [];

/** The theme that was chosen. */
export function theme() {
  const chosen = localStorage.getItem(KEY);
  return THEMES.includes(chosen) ? chosen : 'system';
}

/** Whether the page is dark now. */
export function isDark() {
  const chosen = theme();
  return chosen === 'system' ? system.matches : chosen === 'dark';
}

/** Calls `listener` whenever the page may have turned dark or light. */
export function onTheme(listener) {
  listeners.push(listener);
}

export function setTheme(name) {
  if (name === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, name);
  apply();
}

function apply() {
  const chosen = theme();
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  for (const listener of listeners) listener();
}

apply();
system.addEventListener('change', apply);
// Another tab may have changed it.
addEventListener('storage', ({ key }) => key === KEY && apply());
