// Markdown on the page: data becomes elements, and a text that grows keeps the elements it has.

import { arrange, button, h } from './dom.js';
import { blocks } from './markdown.js';

/** A text that may grow. `update` leaves every block alone whose source has not changed. */
export class Prose {
  constructor() {
    this.element = h('div', { class: 'prose' });
    this.text = '';
    this.shown = [];
  }

  update(text) {
    if (text === this.text) return;
    this.text = text;
    const found = blocks(text);
    this.shown = found.map((block, place) => {
      const before = this.shown[place];
      if (before?.source === block.source) return before;
      if (before?.type === 'code' && block.type === 'code' && before.language === block.language) {
        say(before.node, block.text);
        return { ...before, source: block.source };
      }
      return { source: block.source, type: block.type, language: block.language, node: draw(block) };
    });
    arrange(
      this.element,
      this.shown.map(({ node }) => node),
    );
  }

  /** The blocks that nothing will be added to any more, as plain text. */
  settled() {
    return this.shown.slice(0, -1).map(({ node }) => node.textContent);
  }
}

function say(node, text) {
  const code = node.querySelector('code');
  const { firstChild } = code;
  if (firstChild && text.startsWith(firstChild.data))
    firstChild.appendData(text.slice(firstChild.data.length));
  else code.textContent = text;
}

function draw(block) {
  switch (block.type) {
    case 'heading':
      // The page has its own first headings.
      return h(`h${Math.min(block.level + 2, 6)}`, {}, drawInline(block.inline));
    case 'rule':
      return h('hr');
    case 'code':
      return codeBlock(block.text, block.language);
    case 'quote':
      return h('blockquote', {}, block.blocks.map(draw));
    case 'list':
      return h(
        block.ordered ? 'ol' : 'ul',
        block.ordered && block.start !== 1 ? { start: block.start } : {},
        block.items.map(item),
      );
    case 'table':
      return table(block);
    case 'details':
      return h('details', {}, h('summary', {}, drawInline(block.summary)), block.blocks.map(draw));
    case 'note':
      return h('p', { class: 'footnote' }, h('sup', {}, block.name), ' ', drawInline(block.inline));
    default:
      return h('p', {}, drawInline(block.inline));
  }
}

function item({ done, blocks: inner }) {
  const tight = inner.length > 0 && inner[0].type === 'paragraph';
  const body = tight ? [drawInline(inner[0].inline), inner.slice(1).map(draw)] : inner.map(draw);
  if (done === null) return h('li', {}, body);
  const box = h('input', {
    type: 'checkbox',
    disabled: true,
    checked: done,
    'aria-label': done ? 'done' : 'open',
  });
  return h('li', { class: 'task' }, box, body);
}

function table({ align, head, rows }) {
  const row = (tag) => (cells) =>
    h(
      'tr',
      {},
      cells.map((cell, column) => h(tag, { class: `to-${align[column]}` }, drawInline(cell))),
    );
  const body = h('table', {}, h('thead', {}, row('th')(head)), h('tbody', {}, rows.map(row('td'))));
  return h('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Table' }, body);
}

/** Code or JSON, with a button that copies it. */
export function codeBlock(text, language = '') {
  const code = h('code', {}, text);
  const copy = button('Copy', () => copyText(code.textContent, copy), { class: 'copy' });
  const bar = h('div', { class: 'code-bar' }, h('span', {}, language), copy);
  return h(
    'div',
    { class: language ? 'code-block' : 'code-block bare' },
    bar,
    h('pre', { tabindex: '0', 'aria-label': language || 'Code' }, code),
  );
}

/** Copies, and confirms on the button. */
export async function copyText(text, control) {
  const label = control.querySelector('span');
  const before = control.dataset.label ?? label.textContent;
  control.dataset.label = before;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = 'Copied';
  } catch {
    label.textContent = 'Not allowed';
  }
  setTimeout(() => {
    label.textContent = before;
  }, 1500);
}

function drawInline(parts) {
  return parts.map((part) => {
    switch (part.type) {
      case 'text':
        return part.text;
      case 'break':
        return h('br');
      case 'code':
        return h('code', {}, part.text);
      case 'strong':
        return h('strong', {}, drawInline(part.parts));
      case 'emphasis':
        return h('em', {}, drawInline(part.parts));
      case 'strike':
        return h('s', {}, drawInline(part.parts));
      case 'footnote':
        return h('sup', {}, part.text);
      case 'link':
        return h(
          'a',
          { href: part.href, title: part.href, target: '_blank', rel: 'noopener noreferrer nofollow' },
          drawInline(part.parts),
        );
      default:
        return '';
    }
  });
}

/** Markdown that stays as it is. */
export function prose(text) {
  const shown = new Prose();
  shown.update(text);
  return shown.element;
}
