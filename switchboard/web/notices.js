// Short notices at the edge of the page, and words for screen readers only.

import { h, iconButton } from './dom.js';
import { words } from './api.js';
import { plainLines } from './format.js';
import { text } from './text.js';

/** How long a notice stays. Hovering or focusing it keeps it. */
const STAYS = { info: 6000, warn: 12_000, error: 20_000 };

/** Shows a notice for a while. In front of a dialog, if one is open. */
export function notice(words, kind = 'info') {
  // It may hold what a server said.
  const said = plainLines(words);
  const place = document.getElementById('notices');
  const host = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  if (place.parentNode !== host) host.append(place);
  const same = [...place.children].find((shown) => shown.dataset.text === said);
  same?.remove();
  const close = iconButton('close', text.common.dismiss, () => shown.remove());
  const shown = h('div', { class: `notice ${kind}`, dataset: { text: said } }, h('span', {}, said), close);
  place.append(shown);
  const expire = () => {
    if (shown.matches(':hover, :focus-within')) setTimeout(expire, STAYS.info);
    else shown.remove();
  };
  setTimeout(expire, STAYS[kind]);
  while (place.children.length > 3) place.firstChild.remove();
}

/** Takes the notices out of a dialog that goes away. */
export function releaseNotices(dialog) {
  const place = dialog.querySelector('#notices');
  if (place) document.body.append(place);
}

/** Shows an error. A rejected token has a page of its own. */
export function failed(error) {
  if (error.status !== 401)
    notice(error.status === undefined ? text.common.wrong(error.message) : words(error), 'error');
}

/**
 * Runs `action` for a control: it is busy meanwhile, and a failure is shown. A button keeps the
 * focus and only stops listening; anything else cannot be changed until the action is over.
 */
export async function act(control, action) {
  if (control?.getAttribute('aria-busy') === 'true') return undefined;
  const locks = control && control.tagName !== 'BUTTON';
  control?.setAttribute('aria-busy', 'true');
  if (locks) control.disabled = true;
  try {
    return await action();
  } catch (error) {
    failed(error);
    return undefined;
  } finally {
    control?.removeAttribute('aria-busy');
    if (locks) control.disabled = false;
  }
}

/** Announces a text to screen readers, politely. */
export function speak(said) {
  const place = document.getElementById('spoken');
  place.append(h('p', {}, said));
  while (place.children.length > 20) place.firstChild.remove();
}
