// The catalogues of texts: the same keys in every language, each used, none missing.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { LANGUAGES, pick } from '../../web/text/languages.js';
import { plurals } from '../../web/text/plural.js';

const WEB = new URL('../../web/', import.meta.url);
const catalogues = await Promise.all(
  LANGUAGES.map(async ({ tag, load }) => [tag, (await load()).text]),
);
const [, english] = catalogues.find(([tag]) => tag === 'en');

/** A catalogue as lines: the path of each text and what kind of text it is. */
function shape(part, path = []) {
  if (typeof part === 'function') return [`${path.join('.')}: ${part.forms ? 'plural' : `text of ${part.length}`}`];
  if (typeof part === 'string') return [`${path.join('.')}: text`];
  return Object.entries(part).flatMap(([name, inner]) => shape(inner, [...path, name]));
}

function* leaves(part, path = []) {
  if (typeof part !== 'object') yield [path.join('.'), part];
  else for (const [name, inner] of Object.entries(part)) yield* leaves(inner, [...path, name]);
}

/** `section.key` for each text that the page's modules name. */
function named() {
  const found = new Set();
  for (const file of readdirSync(WEB).filter((name) => name.endsWith('.js'))) {
    const source = readFileSync(new URL(file, WEB), 'utf8');
    for (const [, section, key] of source.matchAll(/\btext\.(\w+)\??\.(\w+)/g)) found.add(`${section}.${key}`);
    const bound = new Map();
    for (const [, name, section] of source.matchAll(/\bconst (\w+) = text\.(\w+);/g)) {
      assert.ok((bound.get(name) ?? section) === section, `${file}: ${name} is two sections of the texts`);
      bound.set(name, section);
    }
    for (const [name, section] of bound)
      for (const [, key] of source.matchAll(new RegExp(`(?<![\\w.])${name}\\.(\\w+)`, 'g')))
        found.add(`${section}.${key}`);
  }
  return found;
}

test('every language has the same texts', () => {
  for (const [tag, catalogue] of catalogues) assert.deepEqual(shape(catalogue), shape(english), tag);
});

test('no text is empty', () => {
  for (const [tag, catalogue] of catalogues)
    for (const [path, it] of leaves(catalogue)) if (typeof it === 'string') assert.ok(it.trim(), `${tag}: ${path}`);
});

test('every text is used, and every text that is used is there', () => {
  const there = Object.entries(english).flatMap(([section, keys]) =>
    Object.keys(keys).map((key) => `${section}.${key}`),
  );
  const used = named();
  assert.deepEqual([...used].filter((path) => !there.includes(path)).sort(), [], 'missing');
  assert.deepEqual(there.filter((path) => !used.has(path)), [], 'unused');
});

test('every function names what it is given, in every language', () => {
  for (const [tag, catalogue] of catalogues)
    for (const [path, it] of leaves(catalogue)) {
      if (typeof it !== 'function' || it.forms) continue;
      const given = Array.from({ length: it.length }, (_, place) => `⟨${place}⟩`);
      const said = it(...given);
      for (const one of given) assert.ok(said.includes(one), `${tag}: ${path} leaves ${one} out`);
    }
});

test('numbers have all the forms of their language', () => {
  for (const [tag, catalogue] of catalogues) {
    const wanted = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    for (const [path, it] of leaves(catalogue)) {
      if (!it.forms) continue;
      assert.deepEqual(Object.keys(it.forms).sort(), [...wanted].sort(), `${tag}: ${path}`);
      assert.doesNotMatch(it(1200), /#/);
    }
  }
});

test('a number takes its form and is written as the language does', () => {
  const many = plurals('en')({ one: 'one tool', other: '# tools' });
  assert.deepEqual([many(0), many(1), many(1234)], ['0 tools', 'one tool', '1,234 tools']);
  assert.equal(plurals('zh')({ other: '# 个工具' })(1), '1 个工具');
});

test('the setting chooses the language, then the browser, then English', () => {
  assert.equal(pick(null, ['zh-CN', 'en']).tag, 'zh');
  assert.equal(pick('en', ['zh-CN']).tag, 'en');
  assert.equal(pick(null, ['fr-FR', 'zh-Hans-CN']).tag, 'zh');
  assert.equal(pick('klingon', []).tag, 'en');
});

test('what tools cost is said of their descriptions: a request has them only if they are listed', () => {
  const all = [...leaves(english)].filter(([, leaf]) => leaf);
  for (const [path, leaf] of all) assert.doesNotMatch(String(leaf), /(?:every|each) request/i, path);
  assert.equal(english.tools.sum(2, 3, '628'), '2 of 3 tools on · about 628 tokens to describe them all');
  assert.equal(english.servers.tokens('628'), 'about 628 tokens to describe them');
});
