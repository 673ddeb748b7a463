// What servers say is shown as it is: nothing is hidden in it, and nothing turns what stands around it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { plain, plainLines, pretty } from '../../web/format.js';

const SAME = 'Zahlung — 支払い 😀 שלום';

/** The characters that a function of tool-policy's `hidden.rs` names. */
function named(rule) {
  const source = readFileSync(new URL('../../../tool-policy/src/hidden.rs', import.meta.url), 'utf8');
  const body = source.slice(source.indexOf(`pub fn ${rule}(`)).split('\n}\n', 1)[0];
  const found = new Set();
  for (const [, first, last] of body.matchAll(/'\\u\{(\w+)\}'(?:\.\.='\\u\{(\w+)\}')?/g))
    for (let code = parseInt(first, 16); code <= parseInt(last ?? first, 16); code += 1) found.add(code);
  assert.ok(found.size > 10, rule);
  return found;
}

/** The characters that a function does not leave as they are. */
function changed(by) {
  const found = new Set();
  for (let code = 0; code < 0xe0200; code += 1)
    if ((code < 0xd800 || code > 0xdfff) && by(String.fromCodePoint(code)) !== String.fromCodePoint(code)) found.add(code);
  return found;
}

test('the page escapes the characters that the terminal and the scanner know as hidden', () => {
  const control = (code) => code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const turning = named('is_bidi_control');
  const rest = (codes) => [...codes].filter((code) => !control(code)).sort((a, b) => a - b);
  assert.deepEqual(rest(changed(plainLines)), rest(turning));
  assert.deepEqual(rest(changed(plain)), rest(new Set([...turning, ...named('is_hidden')])));
  assert.deepEqual([...changed(plain)].filter(control).length, 65);
  assert.deepEqual([...changed(plainLines)].filter(control).length, 63, 'all but line feed and tab');
});

test('a name stays in its line and shows what it hides', () => {
  assert.equal(plain(SAME), SAME);
  assert.equal(plain('pay\n{}\r\u202e\u200b\u{e0041}'), 'pay\\u000a{}\\u000d\\u202e\\u200b\\udb40\\udc41');
  assert.equal(plain(undefined), '');
});

test('a text keeps its lines whatever ends them', () => {
  assert.equal(plainLines(`a\tb\r\n${SAME}\n`), `a\tb\n${SAME}\n`);
  assert.equal(plainLines('a\rb\u2066\u001b[2J'), 'a\ufffdb\ufffd\ufffd[2J');
});

test('JSON shows what its strings hide and stays the same value', () => {
  const value = { 'to\u200b': ['bob\u202e', '\u007f\u{e0041}\n', SAME] };
  const shown = pretty(value);
  assert.doesNotMatch(shown, /[\u007f\u200b\u202e]|\u{e0041}/u);
  assert.match(shown, /"bob\\u202e"/);
  assert.match(shown, new RegExp(SAME));
  assert.deepEqual(JSON.parse(shown), value);
  assert.equal(pretty(undefined), '');
});
