// Colours for code, by ranges: the text itself stays one node, so it can grow, and be selected and
// copied as it is. Where the browser has no custom highlights, code has no colours.

/** Longer code is not coloured: it would take the page too long. */
const LONGEST = 50_000;
/** Code that grows is coloured when it pauses. */
const PAUSE = 120;
/** The kinds of words there are styles for, by the library's names. */
const KINDS = {
  keyword: 'keyword',
  built_in: 'name',
  type: 'name',
  literal: 'value',
  number: 'value',
  string: 'string',
  regexp: 'string',
  comment: 'comment',
  meta: 'comment',
  title: 'name',
  attr: 'name',
  attribute: 'name',
  name: 'keyword',
  'selector-tag': 'keyword',
  addition: 'string',
  deletion: 'keyword',
};

let library = null;
const drawn = new Map();
const due = new Map();

/** Colours a code element, soon. */
export function colour(code, language) {
  if (!language || !globalThis.CSS?.highlights) return;
  clearTimeout(due.get(code));
  due.set(
    code,
    setTimeout(() => {
      due.delete(code);
      draw(code, language).catch(() => {});
    }, PAUSE),
  );
}

async function draw(code, language) {
  library ??= import('./vendor/highlight.js');
  const { default: highlighter } = await library;
  const node = code.firstChild;
  if (!code.isConnected || !node || node.data.length > LONGEST) return;
  if (!highlighter.getLanguage(language)) return;
  clean(code);
  const { _emitter: found } = highlighter.highlight(node.data, { language, ignoreIllegals: true });
  const ranges = [];
  let at = 0;
  const walk = ({ scope, children }, outer) => {
    const kind = KINDS[scope?.split('.')[0]] ?? outer;
    for (const child of children) {
      if (typeof child !== 'string') {
        walk(child, kind);
        continue;
      }
      if (kind) ranges.push([kind, range(node, at, at + child.length)]);
      at += child.length;
    }
  };
  walk(found.rootNode, null);
  for (const [kind, it] of ranges) place(kind).add(it);
  drawn.set(code, ranges);
}

function range(node, from, to) {
  const made = new Range();
  made.setStart(node, from);
  made.setEnd(node, to);
  return made;
}

function place(kind) {
  const name = `code-${kind}`;
  if (!CSS.highlights.has(name)) CSS.highlights.set(name, new Highlight());
  return CSS.highlights.get(name);
}

/** Takes the ranges of this code away, and those of code that is gone. */
function clean(code) {
  for (const [other, ranges] of drawn) {
    if (other !== code && other.isConnected) continue;
    for (const [kind, it] of ranges) place(kind).delete(it);
    drawn.delete(other);
  }
}
