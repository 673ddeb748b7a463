// How the page looks and what it may do on this device: theme, language, notifications.

import { h } from './dom.js';
import { labelled, select, ticked } from './fields.js';
import { canNotify, notifies, setNotify } from './notify.js';
import { act, notice } from './notices.js';
import { languageSetting, setLanguage, text } from './text.js';
import { LANGUAGES } from './text/languages.js';
import { THEMES, setTheme, theme } from './theme.js';

const t = text.appearance;

/** The section of the settings; it holds at once and for this browser. */
export function appearanceSection() {
  const colours = select(
    THEMES.map((name) => [name, t.themes[name]]),
    theme(),
  );
  colours.addEventListener('change', () => setTheme(colours.value));
  const tongue = select(
    [['', t.browser], ...LANGUAGES.map(({ tag, name }) => [tag, name])],
    languageSetting() ?? '',
  );
  tongue.addEventListener('change', () => {
    setLanguage(tongue.value);
    location.reload();
  });
  const notify = h('input', { type: 'checkbox', checked: notifies(), disabled: !canNotify() });
  notify.addEventListener('change', () =>
    act(notify, async () => {
      const wanted = notify.checked;
      notify.checked = await setNotify(wanted);
      if (wanted && !notify.checked) notice(t.notAllowed, 'warn');
    }),
  );
  return h(
    'section',
    { class: 'form narrow' },
    h('h2', {}, t.title),
    labelled(t.theme, colours),
    labelled(t.language, tongue, t.languageHelp),
    ticked(t.notify, notify, canNotify() ? t.notifyHelp : t.notAllowed),
  );
}
