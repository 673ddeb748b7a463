// Markdown within a line: emphasis, code, formulas, links, footnotes. HTML stays what it is: text, apart
// from line breaks.

const MARKS = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'strike'],
  ['*', 'emphasis'],
  ['_', 'emphasis'],
];
const ADDRESS = /^https?:\/\/[^\s<>"'`]+/;
const LINK =
  /^!?\[([^\]\n]{0,1000})\]\(<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,2000})?)>?(?:\s+"[^"\n]{0,500}")?\)/;
/** Only these are followed. */
const SAFE = /^(?:https?:\/\/|mailto:)/i;
const DEEPEST = 6;

/**
 * The parts of a text: `{type: 'text' | 'code' | 'math' | 'break' | 'strong' | 'emphasis' | 'strike' |
 * 'link' | 'footnote'}`.
 */
export function inline(text, depth = 0) {
  const parts = [];
  const none = new Set();
  let plain = '';
  const flush = () => {
    if (plain) parts.push({ type: 'text', text: plain });
    plain = '';
  };
  const add = (part) => {
    flush();
    parts.push(part);
  };
  let at = 0;
  while (at < text.length) {
    const sign = text[at];
    const found = depth < DEEPEST ? special(text, at, sign, depth, none) : null;
    if (found) {
      add(found.part);
      at = found.end;
    } else if (sign === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1];
      at += 2;
    } else if (sign === '\n') {
      plain = plain.trimEnd();
      add({ type: 'break' });
      at += 1;
    } else {
      plain += sign;
      at += 1;
    }
  }
  flush();
  return parts;
}

function special(text, at, sign, depth, none) {
  switch (sign) {
    case '`':
      return codeSpan(text, at, none);
    case '\\':
      return formula(text, at, none);
    case '$':
      return dollars(text, at, none);
    case '!':
      return link(text, at, depth);
    case '[':
      return footnote(text, at) ?? link(text, at, depth);
    case '<':
      return lineBreak(text, at) ?? bracketed(text, at);
    case 'h':
      return bare(text, at);
    case '*':
    case '_':
    case '~':
      return marked(text, at, depth, none);
    default:
      return null;
  }
}

const CLOSED = { '\\(': '\\)', '\\[': '\\]' };

/** `\\(a^2\\)` and `\\[a^2\\]`, with the signs that make it a formula. */
function formula(text, at, none) {
  const open = text.slice(at, at + 2);
  const close = CLOSED[open];
  if (!close || none.has(open)) return null;
  const end = text.indexOf(close, at + 2);
  if (end < 0) {
    none.add(open);
    return null;
  }
  return { part: math(text, at, end + 2, 2), end: end + 2 };
}

/**
 * `$a^2$` and `$$a^2$$`. Sums of money are none: no blank stands inside the signs, and no digit
 * follows the last one.
 */
function dollars(text, at, none) {
  const sign = text[at + 1] === '$' ? '$$' : '$';
  if (none.has(sign) || /\s/.test(text[at + sign.length] ?? ' ')) return null;
  let end = text.indexOf(sign, at + sign.length + 1);
  while (end >= 0 && (/\s/.test(text[end - 1]) || /\d/.test(text[end + sign.length] ?? '')))
    end = text.indexOf(sign, end + 1);
  if (end < 0) {
    none.add(sign);
    return null;
  }
  return { part: math(text, at, end + sign.length, sign.length), end: end + sign.length };
}

function math(text, from, to, signs) {
  const source = text.slice(from, to);
  const display = source.startsWith('$$') || source.startsWith('\\[');
  return { type: 'math', tex: source.slice(signs, -signs).trim(), source, display };
}

function lineBreak(text, at) {
  const found = /^<br\s{0,3}\/?>\n?/i.exec(text.slice(at, at + 10));
  return found && { part: { type: 'break' }, end: at + found[0].length };
}

/** `[^1]`, which refers to a note. */
function footnote(text, at) {
  const found = /^\[\^([^\s\]^]{1,40})\]/.exec(text.slice(at, at + 44));
  return found && { part: { type: 'footnote', text: found[1] }, end: at + found[0].length };
}

function codeSpan(text, at, none) {
  const mark = /^`+/.exec(text.slice(at, at + 64))[0];
  if (none.has(mark)) return null;
  let close = text.indexOf(mark, at + mark.length);
  while (close >= 0 && text[close + mark.length] === '`') {
    let over = close + mark.length;
    while (text[over] === '`') over += 1;
    close = text.indexOf(mark, over);
  }
  if (close < 0) {
    none.add(mark);
    return null;
  }
  const inner = text.slice(at + mark.length, close).replaceAll('\n', ' ');
  const trimmed = /^ .*[^ ].* $/.test(inner) ? inner.slice(1, -1) : inner;
  return { part: { type: 'code', text: trimmed }, end: close + mark.length };
}

function link(text, at, depth) {
  const found = LINK.exec(text.slice(at, at + 5000));
  if (!found) return null;
  const [whole, label, address] = found;
  const end = at + whole.length;
  // Loading a remote picture would be a request to its host: it becomes a link.
  const words = label || address;
  if (!SAFE.test(address)) return { part: { type: 'text', text: words }, end };
  return {
    part: {
      type: 'link',
      href: address,
      parts: inline(words, Math.max(depth + 1, DEEPEST - 2)).map(unlinked),
    },
    end,
  };
}

function unlinked(part) {
  return part.type === 'link' ? { type: 'text', text: part.href } : part;
}

function bracketed(text, at) {
  const found = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/.exec(text.slice(at, at + 2100));
  return found && { part: linked(found[1]), end: at + found[0].length };
}

function bare(text, at) {
  if (/\w/.test(text[at - 1] ?? '')) return null;
  const found = ADDRESS.exec(text.slice(at, at + 2000));
  if (!found) return null;
  let address = found[0].replace(/[.,;:!?*_~]+$/, '');
  if (address.endsWith(')') && !address.includes('(')) address = address.slice(0, -1);
  return { part: linked(address), end: at + address.length };
}

function linked(address) {
  return { type: 'link', href: address, parts: [{ type: 'text', text: address }] };
}

function marked(text, at, depth, none) {
  for (const [mark, type] of MARKS) {
    if (!text.startsWith(mark, at) || none.has(mark)) continue;
    const from = at + mark.length;
    if (/\s/.test(text[from] ?? ' ') || (mark[0] === '_' && /\w/.test(text[at - 1] ?? ''))) continue;
    const close = closing(text, from, mark);
    if (close < 0) {
      none.add(mark);
      continue;
    }
    return { part: { type, parts: inline(text.slice(from, close), depth + 1) }, end: close + mark.length };
  }
  return null;
}

function closing(text, from, mark) {
  let close = text.indexOf(mark, from + 1);
  while (close >= 0) {
    const after = text[close + mark.length] ?? '';
    const single = mark.length === 1;
    const doubled = single && (after === mark || text[close - 1] === mark);
    const inWord = mark[0] === '_' && /\w/.test(after);
    if (!/\s/.test(text[close - 1]) && !doubled && !inWord) return close;
    close = text.indexOf(mark, close + (doubled ? 2 : 1));
  }
  return -1;
}
