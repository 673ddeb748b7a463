// The texts of the page in the language that is chosen: by the setting, or else by the browser.

import { pick } from './text/languages.js';

const KEY = 'switchboard.language';
const wanted = globalThis.navigator?.languages ?? [];
const chosen = pick(languageSetting(), wanted);

/** All texts. */
export const { text } = await chosen.load();

/** The language of the texts. */
export const language = chosen.tag;

/** How numbers and times are written: as the browser's user is used to in this language. */
export const locale = wanted.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? language;

/** The language that was chosen in the settings; nothing if the browser's is used. */
export function languageSetting() {
  return globalThis.document ? localStorage.getItem(KEY) : null;
}

/** Uses another language from the next load of the page on; an empty tag is the browser's. */
export function setLanguage(tag) {
  if (tag) localStorage.setItem(KEY, tag);
  else localStorage.removeItem(KEY);
}
