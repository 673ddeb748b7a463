// Elements from data. Text only ever becomes text nodes: nothing here reads HTML.

/** An element: attributes and properties by name, `on…` listeners, then children. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(element, name, value);
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

function set(element, name, value) {
  if (value == null || value === false) return;
  if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
  else if (name === 'dataset') Object.assign(element.dataset, value);
  else if (['value', 'checked', 'indeterminate', 'selected', 'disabled', 'open'].includes(name))
    element[name] = value;
  else element.setAttribute(name, value === true ? '' : String(value));
}

/** A text with elements in the places `{0}`, `{1}`. */
export function insert(words, ...elements) {
  return words.split(/\{(\d)\}/).map((part, place) => (place % 2 ? elements[Number(part)] : part));
}

/** Replaces all children. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** Puts `children` into `element` in this order, and moves only what is not in its place. */
export function arrange(element, children) {
  let at = element.firstChild;
  for (const child of children) {
    if (child === at) at = at.nextSibling;
    else element.insertBefore(child, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** Sets the text if it is another: what is selected stays selected otherwise. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

let last = 0;
/** An id that no other element has. */
export function fresh(name) {
  last += 1;
  return `${name}-${last}`;
}

const SVG = 'http://www.w3.org/2000/svg';
const SHAPES = {
  add: 'M12 5v14M5 12h14',
  again: 'M20 12a8 8 0 1 1-2.5-5.8L20 8M20 4v4h-4',
  attach: 'M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4L14.5 7',
  back: 'M19 12H5M11 6l-6 6 6 6',
  chat: 'M4 5h16v11H9l-5 4z',
  check: 'M5 13l4 4L19 7',
  chevron: 'M6 9l6 6 6-6',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  down: 'M12 5v14M6 13l6 6 6-6',
  edit: 'M4 20h4L19 9l-4-4L4 16z',
  fork: 'M7 4v16M7 14c0-5 10-3 10-9M17 3v3',
  forward: 'M5 12h14M13 6l6 6-6 6',
  history: 'M4 12a8 8 0 1 0 3-6L4 8M4 4v4h4M12 8v4l3 2',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  people: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 20c1-4 4-6 8-6s7 2 8 6',
  play: 'M7 5l12 7-12 7z',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4 4',
  send: 'M12 19V5M6 11l6-6 6 6',
  server: 'M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4',
  shield: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z',
  stop: 'M7 7h10v10H7z',
  tool: 'M14 7a4 4 0 0 1 5-4l-3 3 2 2 3-3a4 4 0 0 1-5 5L8 18a2 2 0 0 1-3-3z',
  wait: 'M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z',
  warn: 'M12 4l9 16H3zM12 10v4M12 17h.01',
};

/** A drawing beside words. It says nothing to a screen reader. */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', `icon icon-${name}`);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', SHAPES[name] ?? '');
  svg.append(path);
  return svg;
}

/** A button with words, and perhaps a drawing. */
export function button(label, onclick, props = {}) {
  const { icon: drawing, ...rest } = props;
  return h(
    'button',
    { type: 'button', class: 'button', onclick, ...rest },
    drawing && icon(drawing),
    h('span', {}, label),
  );
}

/** A button that is only a drawing; its words are for screen readers and the tooltip. */
export function iconButton(name, label, onclick, props = {}) {
  return h(
    'button',
    { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick, ...props },
    icon(name),
  );
}

/** The heads of a table's columns; those in brackets are for screen readers only. */
export function columns(names) {
  return h(
    'tr',
    {},
    names.map((name) => {
      const hidden = /^\[(.*)\]$/.exec(name);
      return h('th', { scope: 'col' }, hidden ? h('span', { class: 'hidden' }, hidden[1]) : name);
    }),
  );
}

/** A link to another view. */
export function link(href, label, props = {}) {
  return h('a', { href, ...props }, label);
}
