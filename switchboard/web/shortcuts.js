// Keys for what is done often, and the list of them. A letter alone is never a command while one types.

import { openDialog } from './dialog.js';
import { h } from './dom.js';
import { go } from './router.js';
import { text } from './text.js';

const t = text.shortcuts;
const MAC = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '');
const CTRL = MAC ? '⌘' : 'Ctrl';
const LINES = [
  [[CTRL, 'K'], t.palette],
  [[CTRL, 'Shift', 'O'], text.page.newChat],
  [['/'], t.write],
  [['Enter'], text.chat.send],
  [['Shift', 'Enter'], t.line],
  [[CTRL, '.'], t.question],
  [['A'], t.approve],
  [['D'], t.deny],
  [['E'], t.edit],
  [['?'], t.help],
];

/** The list of all keys. */
export function openShortcuts() {
  if (document.querySelector('dialog[open]')) return;
  const keys = (names) => names.map((name, place) => [place > 0 && ' + ', h('kbd', {}, name)]);
  openDialog(
    t.title,
    h(
      'dl',
      { class: 'keys' },
      LINES.map(([names, about]) => [h('dt', {}, keys(names)), h('dd', {}, about)]),
    ),
    { keeps: false },
  );
}

/** The first question that waits: its element's first button gets the focus. */
function toQuestion() {
  const button = document.querySelector('.approval .button.primary, .elicitation input, .elicitation .button');
  button?.scrollIntoView({ block: 'center' });
  button?.focus({ preventScroll: true });
}

const COMMANDS = {
  'ctrl+k': () => import('./palette.js').then(({ openPalette }) => openPalette()),
  'ctrl+shift+o': () => go(''),
  'ctrl+.': toQuestion,
  '/': () => document.getElementById('composer')?.focus(),
  '?': openShortcuts,
};

/** Follows the keyboard. */
export function listenForKeys() {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    const ctrl = event.ctrlKey || event.metaKey;
    const types = event.target.closest?.('input, textarea, select, [contenteditable]');
    if (!ctrl && (types || document.querySelector('dialog[open]'))) return;
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const name = `${ctrl ? 'ctrl+' : ''}${ctrl && event.shiftKey ? 'shift+' : ''}${letter}`;
    const command = COMMANDS[name];
    if (!command) return;
    event.preventDefault();
    command();
  });
}
