import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inline } from '../../web/inline.js';
import { blocks } from '../../web/markdown.js';
import { random } from './random.mjs';

/** A block as one line, so that a test can be read. */
function spell(parts) {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'code') return `\`${part.text}\``;
      if (part.type === 'break') return '↵';
      if (part.type === 'math') return `⟦${part.tex}⟧`;
      if (part.type === 'footnote') return `^${part.text}`;
      if (part.type === 'link') return `[${spell(part.parts)}](${part.href})`;
      return `<${part.type}>${spell(part.parts)}</>`;
    })
    .join('');
}

function check(text, want) {
  assert.equal(spell(inline(text)), want);
}

function kinds(text) {
  return blocks(text).map(({ type }) => type);
}

test('emphasis, code and links', () => {
  check('a **b _c_** `d*e*` ~~f~~', 'a <strong>b <emphasis>c</></> `d*e*` <strike>f</>');
  check(
    '[x](https://example.com/a_(b)) <https://e.org>',
    '[x](https://example.com/a_(b)) [https://e.org](https://e.org)',
  );
  check('see https://example.com/a, and', 'see [https://example.com/a](https://example.com/a), and');
  check('one\ntwo', 'one↵two');
});

test('signs that mean nothing stay', () => {
  check('2 * 3 * 4, snake_case_name, ** alone, `open', '2 * 3 * 4, snake_case_name, ** alone, `open');
  check('\\*not\\* <b>bold</b>', '*not* <b>bold</b>');
});

test('formulas are what stands between their signs, and money is no formula', () => {
  check('so \\(a_1^2 + *b*\\) and \\[x\\]', 'so ⟦a_1^2 + *b*⟧ and ⟦x⟧');
  check('with $a_1$, $$b$$ and \\$c$', 'with ⟦a_1⟧, ⟦b⟧ and $c$');
  check('from $5 to $10, or US$3-$4', 'from $5 to $10, or US$3-$4');
  check('\\(open, \\*', '(open, *');
  check('$open, $ alone', '$open, $ alone');
});

test('formulas of their own are blocks, once they are closed', () => {
  assert.deepEqual(kinds('$$\na = b\n+ c\n$$\n\nend'), ['math', 'paragraph']);
  assert.deepEqual(kinds('text\n\\[ x \\]\ntext'), ['paragraph', 'math', 'paragraph']);
  assert.deepEqual(kinds('$$x$$ is text'), ['paragraph']);
  assert.deepEqual(kinds('$$\nopen\n\n# head'), ['paragraph', 'heading']);
  const [{ tex, source }] = blocks('$$\na = b\n$$');
  assert.deepEqual([tex, source], ['a = b', '$$\na = b\n$$']);
});

test('line breaks and footnotes are what they mean', () => {
  check('one<br>two<BR />three<br>\nfour', 'one↵two↵three↵four');
  check('known[^1] and [^a-b], [^no note', 'known^1 and ^a-b, [^no note');
});

test('a part that opens and a footnote are blocks, and nothing in them becomes HTML', () => {
  const text =
    'before\n<details>\n<summary>More **here**</summary>\n\n- a\n- b\n\n<script>x</script>\n</details>\n\nafter[^1]\n\n[^1]: The source,\n  and more.';
  const [before, part, after, note] = blocks(text);
  assert.deepEqual([before.type, part.type, after.type, note.type], ['paragraph', 'details', 'paragraph', 'note']);
  assert.equal(spell(part.summary), 'More <strong>here</>');
  assert.deepEqual(
    part.blocks.map(({ type }) => type),
    ['list', 'paragraph'],
  );
  assert.equal(spell(part.blocks[1].inline), '<script>x</script>');
  assert.deepEqual([note.name, spell(note.inline)], ['1', 'The source,↵and more.']);
  const [open] = blocks('<details><summary>Still');
  assert.equal(open.type, 'details', 'one that is being written');
  const nested = blocks('<details>\n<details>\nin\n</details>\nout\n</details>\nafter');
  assert.deepEqual(nested.map(({ type }) => type), ['details', 'paragraph']);
});

test('only addresses of the web and of mail are links', () => {
  for (const address of [
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example',
    '/api/settings',
  ]) {
    check(`[x](${address})`, 'x');
  }
  check('[x](mailto:a@b.c)', '[x](mailto:a@b.c)');
});

test('a picture of someone else’s is a link, not a request', () => {
  check('![p](https://evil.example/t.png?secret)', '[p](https://evil.example/t.png?secret)');
});

test('blocks of every kind', () => {
  const text =
    '# Head\n\ntext\nmore\n\n- a\n- b\n  1. c\n\n> quote\n\n```js\nx < 1\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n---\n- [x] done';
  assert.deepEqual(kinds(text), ['heading', 'paragraph', 'list', 'quote', 'code', 'table', 'rule', 'list']);
  const [, , list, , code, table, , tasks] = blocks(text);
  assert.equal(list.items[1].blocks[1].ordered, true);
  assert.deepEqual([code.language, code.text], ['js', 'x < 1']);
  assert.deepEqual([table.align, table.rows.length], [['left', 'right'], 1]);
  assert.equal(tasks.items[0].done, true);
});

test('code that has not ended yet is code', () => {
  assert.deepEqual(
    blocks('```py\nprint(1)\n').map(({ type, text }) => [type, text]),
    [['code', 'print(1)\n']],
  );
});

test('what comes later leaves all but the last block alone', () => {
  const pieces = [
    '# A\n\n',
    'word ',
    '**b** ',
    '\n\n',
    '- item\n',
    '  more\n',
    '```\ncode\n```\n',
    '> q\n',
    '| a | b |\n|--|--|\n| 1 | 2 |\n',
    '😀',
    '[l](https://e.org) ',
    '\n<details>\n',
    '</details>\n',
    '\n[^1]: note\n',
    '\\(a\\) ',
    '\n$$\n',
    '$$ ',
    'x = 1\n',
  ];
  const next = random(3);
  for (let round = 0; round < 300; round += 1) {
    let text = '';
    let before = [];
    for (let piece = 0; piece < 12; piece += 1) {
      text += pieces[Math.floor(next() * pieces.length)];
      const now = blocks(text);
      // A table is recognized by its second line, so the block before the last may join it.
      for (let at = 0; at < before.length - 1; at += 1)
        assert.equal(now[at].source, before[at].source, JSON.stringify(text));
      before = now;
    }
  }
});

test('no text is lost: every letter of a paragraph is shown', () => {
  const signs = ['a', 'b', ' ', '*', '**', '_', '`', '[', ']', '(', ')', '<', 'https://e.org', '~~', '\\', '$'];
  const next = random(9);
  for (let round = 0; round < 2000; round += 1) {
    let text = 'x';
    for (let count = 0; count < 14; count += 1) text += signs[Math.floor(next() * signs.length)];
    const shown = spell(inline(text));
    const letters = (it) =>
      [...it.replaceAll(/<\/?(?:strong|emphasis|strike)?>/g, '')].filter(
        (sign) => sign === 'a' || sign === 'b',
      ).length;
    assert.ok(letters(shown) >= letters(text.replaceAll(/\]\([^)]*\)/g, ']')), JSON.stringify([text, shown]));
  }
});

test('a hostile text takes no longer than its length', () => {
  for (const sign of [
    '*', '_', '`', '[', '![](', '**a', '~~', '> ', '- ', '|', '<', '`` ` ', '\\(', '$', '$a', '$1', '$$', '$$\n', '$$a\n', '[^', '<br', '<details>', '<details>\n', '<details><summary>', '[^1]: ', '</details>',
  ]) {
    const text = sign.repeat(20_000);
    blocks(text);
    inline(text);
  }
});
