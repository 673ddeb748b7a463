// Light, dark, or as the system is. Loaded first, so that the page does not change its colours.

const KEY = 'switchboard.theme';
export const THEMES = ['system', 'light', 'dark'];

/** The theme that was chosen. */
export function theme() {
  const chosen = localStorage.getItem(KEY);
  return THEMES.includes(chosen) ? chosen : 'system';
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
}

apply();
// Another tab may have changed it.
addEventListener('storage', ({ key }) => key === KEY && apply());
