// Markdown as data: blocks, each with the text it came from, so that a page that is being written
// can keep what has not changed. Pure, and linear in the length of the text.

import { inline } from './inline.js';

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)(.*)$/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const DETAILS = /^ {0,3}<details(?:\s[^>]{0,200})?>/i;
const DETAILS_END = /<\/details>\s*$/i;
const SUMMARY = ['<summary>', '</summary>'];
const FORMULA = /^ {0,3}(?:\$\$|\\\[)/;
const NOTE = /^ {0,3}\[\^([^\s\]^]{1,40})\]:[ \t]+(.*)$/;
/** Deeper than this, text is text. */
const DEEPEST = 8;

/** The blocks of a text. */
export function blocks(text, depth = 0) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const found = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [block, end] = next(lines, at, depth);
    found.push({ ...block, source: lines.slice(at, end).join('\n') });
    at = end;
  }
  return found;
}

function next(lines, at, depth) {
  const fence = FENCE.exec(lines[at]);
  if (fence) return code(lines, at, fence);
  const heading = HEADING.exec(lines[at]);
  if (heading) return [{ type: 'heading', level: heading[1].length, inline: inline(heading[2]) }, at + 1];
  if (RULE.test(lines[at])) return [{ type: 'rule' }, at + 1];
  if (depth < DEEPEST && QUOTE.test(lines[at])) return quote(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(lines[at])) return list(lines, at, depth);
  if (depth < DEEPEST && DETAILS.test(lines[at])) return details(lines, at, depth);
  if (FORMULA.test(lines[at])) return formula(lines, at) ?? paragraph(lines, at, depth);
  if (NOTE.test(lines[at])) return note(lines, at);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at, depth);
}

function code(lines, at, [, mark, language]) {
  const closing = new RegExp(`^ {0,3}${mark[0] === '`' ? '`' : '~'}{${mark.length},}\\s*$`);
  let end = at + 1;
  while (end < lines.length && !closing.test(lines[end])) end += 1;
  const body = lines.slice(at + 1, end).join('\n');
  return [{ type: 'code', language, text: body, closed: end < lines.length }, Math.min(end + 1, lines.length)];
}

/** A part that opens: up to the end that belongs to it, or to where the text ends by now. */
function details(lines, at, depth) {
  let end = at;
  let open = 0;
  while (end < lines.length) {
    if (DETAILS.test(lines[end])) open += 1;
    if (DETAILS_END.test(lines[end])) open -= 1;
    end += 1;
    if (open === 0) break;
  }
  const whole = lines.slice(at, end).join('\n').replace(DETAILS, '').replace(DETAILS_END, '');
  const [opens, closes] = SUMMARY;
  const from = whole.indexOf(opens);
  const to = from < 0 ? -1 : whole.indexOf(closes, from);
  const [title, inner] =
    to < 0
      ? ['', whole]
      : [whole.slice(from + opens.length, to), whole.slice(0, from) + whole.slice(to + closes.length)];
  return [{ type: 'details', summary: inline(title.trim()), blocks: blocks(inner, depth + 1) }, end];
}

/**
 * A formula of its own: `$$` or `\\[`, up to the sign that ends a line. Without one it is text up to
 * the next blank line, so that what follows stays a block of its own while a formula is written.
 */
function formula(lines, at) {
  const close = lines[at].trimStart().startsWith('$$') ? '$$' : '\\]';
  let rest = lines[at].trim().slice(2);
  if (rest.includes(close) && !rest.endsWith(close)) return null;
  let end = at + 1;
  while (!rest.endsWith(close) && end < lines.length && lines[end].trim()) {
    rest = lines[end].trim();
    end += 1;
  }
  const source = lines.slice(at, end).join('\n').trim();
  if (!rest.endsWith(close)) return [{ type: 'paragraph', inline: [{ type: 'text', text: source }] }, end];
  return [{ type: 'math', tex: source.slice(2, -2).trim(), display: true }, end];
}

/** A footnote, and the lines that go on with it. */
function note(lines, at) {
  const [, name, first] = NOTE.exec(lines[at]);
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && leading(lines[end]) >= 2) end += 1;
  const text = [first, ...lines.slice(at + 1, end).map((line) => line.trim())].join('\n');
  return [{ type: 'note', name, inline: inline(text) }, end];
}

function quote(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ''));
  return [{ type: 'quote', blocks: blocks(inner.join('\n'), depth + 1) }, end];
}

function list(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  const ordered = /\d/.test(first[2]);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end]);
    if (!item || /\d/.test(item[2]) !== ordered || RULE.test(lines[end])) break;
    const indent = item[1].length + item[2].length + Math.max(1, Math.min(item[3].length, 4));
    const body = [item[4]];
    end += 1;
    while (end < lines.length && belongs(lines, end, indent)) {
      body.push(lines[end].slice(Math.min(indent, leading(lines[end]))));
      end += 1;
    }
    items.push(taskOf(body.join('\n'), depth));
    while (end < lines.length && !lines[end].trim() && ITEM.test(lines[end + 1] ?? '')) end += 1;
  }
  return [{ type: 'list', ordered, start: ordered ? Number.parseInt(first[2], 10) : 1, items }, end];
}

/** Whether a line goes on with the item before it. */
function belongs(lines, at, indent) {
  if (lines[at].trim()) {
    if (leading(lines[at]) >= Math.min(indent, 2)) return true;
    return Boolean(lines[at - 1].trim()) && !begins(lines[at]);
  }
  const after = lines[at + 1] ?? '';
  return Boolean(after.trim()) && leading(after) >= Math.min(indent, 2);
}

function taskOf(text, depth) {
  const task = /^\[([ xX])\] /.exec(text);
  const body = blocks(task ? text.slice(4) : text, depth + 1);
  return { done: task ? task[1] !== ' ' : null, blocks: body };
}

function leading(line) {
  return line.length - line.trimStart().length;
}

function begins(line) {
  return [FENCE, HEADING, RULE, QUOTE, ITEM, DETAILS, FORMULA, NOTE].some((pattern) => pattern.test(line));
}

function isTable(lines, at) {
  const rule = lines[at + 1] ?? '';
  return (
    lines[at].includes('|') &&
    rule.includes('-') &&
    TABLE_RULE.test(rule) &&
    cells(lines[at]).length === cells(rule).length
  );
}

function table(lines, at) {
  const align = cells(lines[at + 1]).map((cell) => {
    if (/^:.*:$/.test(cell)) return 'center';
    return cell.endsWith(':') ? 'right' : 'left';
  });
  let end = at + 2;
  // Where the first row begins with a bar, all do: a line that is still being written joins no table.
  const bar = lines[at].trimStart().startsWith('|');
  const goesOn = (line) => (bar ? line.trimStart().startsWith('|') : line.includes('|'));
  while (end < lines.length && lines[end].trim() && goesOn(lines[end])) end += 1;
  const row = (line) => align.map((_, column) => inline(cells(line)[column] ?? ''));
  return [{ type: 'table', align, head: row(lines[at]), rows: lines.slice(at + 2, end).map(row) }, end];
}

function cells(line) {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function paragraph(lines, at, depth) {
  let end = at + 1;
  while (
    end < lines.length &&
    lines[end].trim() &&
    !(depth < DEEPEST && begins(lines[end])) &&
    !isTable(lines, end)
  )
    end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join('\n');
  return [{ type: 'paragraph', inline: inline(text) }, end];
}
