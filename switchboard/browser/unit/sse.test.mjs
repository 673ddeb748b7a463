import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reader } from '../../web/sse.js';
import { random } from './random.mjs';

const STREAM =
  ': hello\n\nid: 7\nevent: message.delta\ndata: {"a":1}\n\ndata: one\r\ndata:two\r\n\r\nid\nevent: x\n\nid: 8\rdata: é😀\r\r';
const WANT = [
  { id: '7', kind: 'message.delta', data: '{"a":1}' },
  { id: '7', kind: 'message', data: 'one\ntwo' },
  { id: '8', kind: 'message', data: 'é😀' },
];

function read(pieces) {
  const parse = reader();
  return pieces.flatMap((piece) => parse.push(piece));
}

test('events are read with their number, kind and data', () => {
  assert.deepEqual(read([STREAM]), WANT);
});

test('chunking does not matter', () => {
  const next = random(11);
  for (let round = 0; round < 500; round += 1) {
    const pieces = [];
    for (let at = 0; at < STREAM.length;) {
      const length = 1 + Math.floor(next() * 9);
      pieces.push(STREAM.slice(at, at + length));
      at += length;
    }
    assert.deepEqual(read(pieces), WANT, JSON.stringify(pieces));
  }
});

test('an event that has not ended is not emitted', () => {
  assert.deepEqual(read(['id: 9\ndata: half\n']), []);
});
