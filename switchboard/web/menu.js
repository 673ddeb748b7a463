// A small menu behind a button, in the way screen readers know: arrows move, Escape closes.

import { fresh, h, icon } from './dom.js';

/** A button that opens a menu of `[label, action]` pairs. */
export function menuButton(label, items, { drawing = 'more', text = null, kind = 'icon-button' } = {}) {
  const id = fresh('menu');
  const entries = items.filter(Boolean).map(([name, action, danger]) => {
    const entry = h(
      'button',
      { type: 'button', role: 'menuitem', tabindex: '-1', class: danger ? 'danger' : '' },
      name,
    );
    entry.addEventListener('click', () => {
      close();
      action();
    });
    return entry;
  });
  const list = h('div', { class: 'menu', role: 'menu', id, hidden: true, 'aria-label': label }, entries);
  const opener = h(
    'button',
    { type: 'button', class: kind, 'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-controls': id },
    text && h('span', {}, text),
    icon(drawing),
  );
  if (!text) {
    opener.setAttribute('aria-label', label);
    opener.title = label;
  }
  const whole = h('div', { class: 'menu-place' }, opener, list);

  function open() {
    list.hidden = false;
    // In a list that scrolls, the menu stands above it.
    if (whole.closest('.recent')) {
      const { left, bottom } = opener.getBoundingClientRect();
      list.style.left = `${left}px`;
      list.style.top = `${Math.min(bottom, innerHeight - list.offsetHeight - 8)}px`;
    }
    opener.setAttribute('aria-expanded', 'true');
    const room = innerHeight - opener.getBoundingClientRect().bottom;
    list.classList.toggle('up', room < list.offsetHeight + 16);
    entries[0]?.focus();
    document.addEventListener('pointerdown', outside);
  }
  function close(focus = true) {
    list.hidden = true;
    opener.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', outside);
    if (focus) opener.focus();
  }
  function outside(event) {
    if (!whole.contains(event.target)) close(false);
  }
  opener.addEventListener('click', () => (list.hidden ? open() : close()));
  whole.addEventListener('focusout', (event) => {
    if (!list.hidden && event.relatedTarget && !whole.contains(event.relatedTarget)) close(false);
  });
  list.addEventListener('keydown', (event) => {
    const at = entries.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) entries[(at + step + entries.length) % entries.length].focus();
    else if (event.key === 'Home') entries[0].focus();
    else if (event.key === 'End') entries.at(-1).focus();
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return whole;
}
