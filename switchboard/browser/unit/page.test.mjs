import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { count, day, money, span, usage } from '../../web/format.js';
import { route } from '../../web/router.js';
import { segments } from '../../web/segments.js';

const WEB = new URL('../../web/', import.meta.url);

test('the addresses of the page, the settings of servers among them', () => {
  assert.deepEqual(route(''), ['chat', null]);
  assert.deepEqual(route('#/chat/c-1'), ['chat', 'c-1', null]);
  assert.deepEqual(route('#/chat/c-1/7'), ['chat', 'c-1', '7']);
  assert.deepEqual(route('#/settings/mcp'), ['servers']);
  assert.deepEqual(route('#/servers/s1/logs'), ['server', 's1', 'logs']);
  assert.deepEqual(route('#/servers/s1'), ['server', 's1', 'tools']);
  assert.deepEqual(route('#/nowhere'), ['lost']);
});

test('calls stand where they were made', () => {
  const calls = [
    { position: 1, offset: 3 },
    { position: 2, offset: 3 },
    { position: 3, offset: 5 },
  ];
  assert.deepEqual(
    segments('😀ab\n\ncd', calls),
    [{ text: '😀ab' }, { calls: calls.slice(0, 2) }, { calls: [calls[2]] }, { text: 'cd' }].reduce(
      (all, part) => {
        // Calls with nothing but blank lines between them stand together.
        if (part.calls && all.at(-1)?.calls) all.at(-1).calls.push(...part.calls);
        else all.push(part.calls ? { calls: [...part.calls] } : part);
        return all;
      },
      [],
    ),
  );
  assert.deepEqual(segments('only text', []), [{ text: 'only text' }]);
  assert.deepEqual(segments('', [{ position: 1 }]), [{ calls: [{ position: 1 }] }]);
});

test('numbers as people read them', () => {
  assert.deepEqual([span(340), span(1400), span(125_000)], ['340 ms', '1.4 s', '2 min 5 s']);
  assert.deepEqual([count(1234), count(56_700), count(1_200_000)], ['1,234', '56.7K', '1.2M']);
  assert.deepEqual([money(0), money(2100), money(1_500_000)], ['$0.00', '$0.0021', '$1.50']);
  assert.equal(usage({ input: 1234, output: 56, costMicros: 2100 }), '1,234 tokens in · 56 out · $0.0021');
  assert.equal(
    usage({ input: 1000, output: 56, cacheRead: 450, costMicros: 2100, unpricedRounds: 1 }),
    '1,000 (45% cached) tokens in · 56 out · at least $0.0021',
  );
  const now = new Date('2026-11-16T10:00:00');
  assert.deepEqual(
    ['2026-11-16T01:00:00', '2026-11-15T23:00:00', '2026-11-12T10:00:00', '2026-01-01T00:00:00'].map((it) =>
      day(it, now),
    ),
    ['Today', 'Yesterday', 'This week', 'Earlier'],
  );
});

test('the page makes no HTML from text and asks no other place for anything', () => {
  for (const name of readdirSync(WEB).filter((it) => /\.\w+$/.test(it))) {
    const text = readFileSync(new URL(name, WEB), 'utf8');
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
      name,
    );
    if (name.endsWith('.css')) assert.doesNotMatch(text, /url\(|@import/, name);
    if (name.endsWith('.html'))
      assert.doesNotMatch(text, /(?:src|href)="(?:https?:)?\/\/| style=| on\w+=|<script(?![^>]*src=)/, name);
  }
});
