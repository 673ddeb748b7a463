import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsOf, read } from '../../web/form-values.js';

function field(schema, required = true) {
  return fieldsOf({
    type: 'object',
    properties: { it: { title: 'It', ...schema } },
    required: required ? ['it'] : [],
  })[0];
}

function check(schema, raw, want, required = true) {
  assert.deepEqual(read(field(schema, required), raw), want);
}

test('every primitive is read as what its schema says', () => {
  check({ type: 'string' }, 'text', { value: 'text' });
  check({ type: 'number' }, ' 1.5 ', { value: 1.5 });
  check({ type: 'integer' }, '7', { value: 7 });
  check({ type: 'boolean' }, true, { value: true });
  check({ type: ['string', 'null'] }, 'x', { value: 'x' });
  check({ type: 'string', format: 'date-time' }, '2026-11-16T10:00Z', { value: '2026-11-16T10:00:00.000Z' });
});

test('what does not fit is reported', () => {
  check({ type: 'integer' }, '1.5', { problem: 'It must be a whole number.' });
  check({ type: 'number', minimum: 2 }, '1', { problem: 'It must be 2 or more.' });
  check({ type: 'number' }, 'abc', { problem: 'It must be a number.' });
  check({ type: 'string', minLength: 3 }, '😀😀', { problem: 'It needs at least 3 characters.' });
  check({ type: 'string', format: 'email' }, 'no one', { problem: 'It is not a valid e-mail address.' });
  assert.match(read(field({ type: 'object' }), '{').problem, /^It is not JSON: /);
});

test('a pattern is not run here: one of a server’s could keep the page busy without end', () => {
  const text = `${'a'.repeat(60)}!`;
  check({ type: 'string', pattern: '^(a+)+$' }, text, { value: text });
});

test('a number is what people write as one, and nothing else', () => {
  check({ type: 'number' }, '.5', { value: 0.5 });
  check({ type: 'number' }, '-1e3', { value: -1000 });
  check({ type: 'number' }, '0,50', { problem: 'It must be a number: write 0.50.' });
  for (const text of ['0x10', 'Infinity', '1 2', '1.2.3', 'NaN', '1,000,000'])
    check({ type: 'number' }, text, { problem: 'It must be a number.' });
});

test('nothing is nothing, unless something is needed', () => {
  check({ type: 'string' }, '', { missing: true }, false);
  check({ type: 'string', minLength: 1 }, '', { problem: 'It is required.' });
  check({ type: 'string' }, '', { problem: 'It is required.' });
  check({ type: 'integer' }, '', { problem: 'It is required.' });
  check({ enum: ['a'] }, '', { missing: true }, false);
});

test('choices are read in all their spellings, and keep their types', () => {
  check({ enum: [1, 2] }, '1', { value: 2 });
  check({ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, '0', { value: 'a' });
  check({ type: 'array', items: { enum: ['x', 'y'] } }, ['0', '1'], { value: ['x', 'y'] });
  check({ type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] }, minItems: 1 }, [], {
    problem: 'It: choose at least 1.',
  });
  assert.deepEqual(
    field({ type: 'string', enum: ['a', 'b'], enumNames: ['Ay', 'Bee'] }).choices.map(({ label }) => label),
    ['Ay', 'Bee'],
  );
});

test('what no field can hold is written as JSON', () => {
  assert.equal(field({ type: 'array', items: { type: 'object' } }).kind, 'json');
  assert.equal(field({ $ref: '#/$defs/x' }).kind, 'json');
  assert.equal(fieldsOf({ properties: { any: true } })[0].kind, 'json');
  assert.equal(field({ type: 'array', prefixItems: [{ type: 'number' }], items: false }).kind, 'json');
  check({ type: 'object' }, '{"a": [1]}', { value: { a: [1] } });
});

test('defaults, titles and help come from the schema', () => {
  const { label, help, initial, required } = field(
    { type: 'integer', default: 3, description: 'How many.' },
    false,
  );
  assert.deepEqual(
    { label, help, initial, required },
    { label: 'It', help: 'How many.', initial: 3, required: false },
  );
});
