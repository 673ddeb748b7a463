// Markdown on the page: data becomes elements, and a text that grows keeps the elements it has.

import { colour } from './code-color.js';
import { illustrate } from './diagram.js';
import { arrange, button, h } from './dom.js';
import { blocks } from './markdown.js';
import { formula } from './math.js';
import { text } from './text.js';

/** A text that may grow. `update` leaves every block alone whose source has not changed. */
export class Prose {
  constructor() {
    this.element = h('div', { class: 'prose' });
    this.text = '';
    this.shown = [];
  }

  update(given) {
    if (given === this.text) return;
    this.text = given;
    const found = blocks(given);
    this.shown = found.map((block, place) => {
      const before = this.shown[place];
      if (before?.source === block.source) return before;
      if (before?.type === 'code' && block.type === 'code' && before.language === block.language) {
        say(before.node, block.text);
        colour(before.node.querySelector('code'), block.language);
        settle(before.node, block);
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

function say(node, now) {
  const code = node.querySelector('code');
  const { firstChild } = code;
  if (firstChild && now.startsWith(firstChild.data))
    firstChild.appendData(now.slice(firstChild.data.length));
  else code.textContent = now;
}

function draw(block) {
  switch (block.type) {
    case 'heading':
      // The page has its own first headings.
      return h(`h${Math.min(block.level + 2, 6)}`, {}, drawInline(block.inline));
    case 'rule':
      return h('hr');
    case 'code':
      return settle(codeBlock(block.text, block.language), block);
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
      return h('details', {}, h('summary', {}, block.summary.length ? drawInline(block.summary) : text.prose.details), block.blocks.map(draw));
    case 'math':
      return formula(block);
    case 'note':
      return h('p', { class: 'footnote' }, h('sup', {}, block.name), ' ', drawInline(block.inline));
    default:
      return h('p', {}, drawInline(block.inline));
  }
}

/** Code that has ended may be a picture. */
function settle(node, { language, text: source, closed }) {
  if (closed && language === 'mermaid') illustrate(node, source);
  return node;
}

function item({ done, blocks: inner }) {
  const tight = inner.length > 0 && inner[0].type === 'paragraph';
  const body = tight ? [drawInline(inner[0].inline), inner.slice(1).map(draw)] : inner.map(draw);
  if (done === null) return h('li', {}, body);
  const box = h('input', {
    type: 'checkbox',
    disabled: true,
    checked: done,
    'aria-label': done ? text.prose.taskDone : text.prose.taskOpen,
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
  return h('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': text.prose.table }, body);
}

/** Code or JSON, with a button that copies it. */
export function codeBlock(source, language = '') {
  const code = h('code', {}, source);
  colour(code, language);
  const copy = button(text.common.copy, () => copyText(code.textContent, copy), { class: 'copy' });
  const bar = h('div', { class: 'code-bar' }, h('span', {}, language), copy);
  return h(
    'div',
    { class: language ? 'code-block' : 'code-block bare' },
    bar,
    h('pre', { tabindex: '0', 'aria-label': language || text.prose.code }, code),
  );
}

/** Copies, and confirms on the button. */
export async function copyText(copied, control) {
  const label = control.querySelector('span');
  const before = control.dataset.label ?? label.textContent;
  control.dataset.label = before;
  try {
    await navigator.clipboard.writeText(copied);
    label.textContent = text.common.copied;
  } catch {
    label.textContent = text.common.notAllowed;
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
      case 'math':
        return formula(part);
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
export function prose(given) {
  const shown = new Prose();
  shown.update(given);
  return shown.element;
}
