import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apply, asksForApproval, load, prepend, running, waiting } from '../../web/store.js';
import { random } from './random.mjs';

const conversation = { id: 'c', title: 'Tides', running: true, waiting: 0 };
const answer = { id: 'm2', conversationId: 'c', seq: 2, role: 'assistant', content: '', toolCalls: [] };
const question = { id: 'm1', conversationId: 'c', seq: 1, role: 'user', content: 'Hi', toolCalls: [] };

function loaded(items = [question, answer], lastEventId = 10) {
  return load(conversation, { items, next: null, lastEventId }, []);
}

function call(position, status, more = {}) {
  return { id: `call${position}`, messageId: 'm2', position, status, arguments: {}, ...more };
}

function play(state, events) {
  return events.reduce(apply, state);
}

test('text grows by pieces, each at its place', () => {
  const state = play(loaded(), [
    { id: 11, kind: 'message.delta', data: { messageId: 'm2', offset: 0, text: 'Grüße ' } },
    { id: 12, kind: 'message.delta', data: { messageId: 'm2', offset: 6, text: '😀 and' } },
    { id: 13, kind: 'message.delta', data: { messageId: 'm2', offset: 11, text: ' more' } },
  ]);
  assert.equal(state.messages[1].content, 'Grüße 😀 and more');
  assert.equal(state.at, 13);
});

test('text that is there already is dropped, in whole or in part', () => {
  const state = play(loaded([question, { ...answer, content: 'one two' }]), [
    { id: 11, kind: 'message.delta', data: { messageId: 'm2', offset: 0, text: 'one' } },
    { id: 12, kind: 'message.delta', data: { messageId: 'm2', offset: 4, text: 'two three' } },
  ]);
  assert.equal(state.messages[1].content, 'one two three');
});

test('a hole in the text makes the page load anew', () => {
  const state = apply(loaded(), {
    id: 11,
    kind: 'message.delta',
    data: { messageId: 'm2', offset: 5, text: 'x' },
  });
  assert.equal(state.stale, true);
});

test('what was loaded already changes nothing', () => {
  const state = loaded();
  assert.equal(
    apply(state, { id: 10, kind: 'message.delta', data: { messageId: 'm2', offset: 0, text: 'x' } }),
    state,
  );
});

test('whatever is replayed, from wherever, the state is the same', () => {
  const text = 'A long answer 😀 with several pieces.';
  const points = Array.from(text);
  const next = random(5);
  for (let round = 0; round < 200; round += 1) {
    const events = [];
    for (let at = 0; at < points.length;) {
      const piece = points.slice(at, at + 1 + Math.floor(next() * 6)).join('');
      events.push({
        id: events.length + 11,
        kind: 'message.delta',
        data: { messageId: 'm2', offset: at, text: piece },
      });
      at += Array.from(piece).length;
    }
    const cut = Math.floor(next() * events.length);
    const before = events.slice(0, cut);
    const content = before.map(({ data }) => data.text).join('');
    // Loaded in the middle; the stream is taken up again somewhat earlier.
    const state = loaded([question, { ...answer, content }], 10 + Math.floor(next() * (cut + 1)));
    const again = play(state, [...events, ...events.slice(cut)]);
    assert.equal(again.messages[1].content, text);
    assert.equal(again.stale, false);
  }
});

test('calls are records inside one message, replaced whole and kept in order', () => {
  const state = play(loaded(), [
    {
      id: 11,
      kind: 'assistant.toolCall.updated',
      data: call(2, 'pending', { approval: { reason: 'mode' } }),
    },
    { id: 12, kind: 'assistant.toolCall.updated', data: call(1, 'invoking') },
    { id: 13, kind: 'assistant.toolCall.updated', data: call(1, 'done', { response: { content: [] } }) },
  ]);
  assert.deepEqual(
    state.messages[1].toolCalls.map(({ position, status }) => [position, status]),
    [
      [1, 'done'],
      [2, 'pending'],
    ],
  );
  assert.equal(state.messages.length, 2);
  assert.deepEqual(
    waiting(state).map(({ position }) => position),
    [2],
  );
  assert.equal(asksForApproval(call(3, 'pending')), false);
});

test('a message is shown once, however often it is announced', () => {
  const reported = { id: 0, kind: 'message.created', data: { message: { ...answer, id: 'm3', seq: 3 } } };
  const state = play(loaded(), [reported, { ...reported, id: 11 }, { ...reported, id: 12 }]);
  assert.deepEqual(
    state.messages.map(({ id }) => id),
    ['m1', 'm2', 'm3'],
  );
});

test('the end of a run ends the answer, and the next one forgets it', () => {
  const ended = apply(loaded(), {
    id: 11,
    kind: 'run.finished',
    data: { conversationId: 'c', messageId: 'm2', reason: 'max_rounds' },
  });
  assert.equal(running(ended), false);
  assert.equal(ended.finished.reason, 'max_rounds');
  const again = apply(ended, {
    id: 12,
    kind: 'conversation.updated',
    data: { conversation: { ...conversation, running: true } },
  });
  assert.equal(again.finished, null);
  assert.equal(running(again), true);
});

test('a completed message keeps its calls and has the last word on its text', () => {
  const state = play(loaded(), [
    { id: 11, kind: 'assistant.toolCall.updated', data: call(1, 'done') },
    {
      id: 12,
      kind: 'message.completed',
      data: { message: { ...answer, content: 'All of it.', toolCalls: undefined }, finish: 'done' },
    },
  ]);
  assert.equal(state.messages[1].content, 'All of it.');
  assert.equal(state.messages[1].toolCalls.length, 1);
  assert.equal(state.messages[1].finish, 'done');
});

test('an unfinished answer that no one works on was interrupted', () => {
  const state = load(
    { ...conversation, running: false },
    { items: [question, answer], next: 5, lastEventId: 1 },
    [],
  );
  assert.equal(state.finished.reason, 'interrupted');
  assert.equal(state.older, 5);
});

test('older pages come before, each message once', () => {
  const state = prepend(
    { ...loaded(), older: 1 },
    { items: [{ ...question, id: 'm0', seq: 0 }, question], next: null },
  );
  assert.deepEqual(
    state.messages.map(({ id }) => id),
    ['m0', 'm1', 'm2'],
  );
  assert.equal(state.older, null);
});

test('questions of servers come and go', () => {
  const asked = { id: 'q', conversationId: 'c', message: 'Who?' };
  const state = play(loaded(), [
    { id: 11, kind: 'elicitation.requested', data: asked },
    { id: 12, kind: 'elicitation.requested', data: asked },
  ]);
  assert.equal(state.questions.length, 1);
  assert.equal(apply(state, { id: 13, kind: 'elicitation.resolved', data: { id: 'q' } }).questions.length, 0);
});
