// A conversation as the page knows it: what was loaded, and then every event, applied in order.
// Pure: the same events always give the same state, and an event that was seen already changes nothing.

/** A conversation of which nothing is known yet. */
export function empty() {
  return {
    conversation: null,
    messages: [],
    older: null,
    progress: {},
    thoughts: {},
    notices: {},
    questions: [],
    finished: null,
    totals: null,
    at: 0,
    stale: false,
    deleted: false,
  };
}

/** The newest page of messages, as loaded: replaces everything. */
export function load(conversation, page, questions) {
  return {
    ...empty(),
    conversation,
    messages: page.items.map(counted),
    older: page.next ?? null,
    questions: questions.filter((question) => question.kind === 'elicitation'),
    finished: ended(conversation, page.items.at(-1)),
    at: Number(page.lastEventId ?? 0),
  };
}

/** An older page, before what is there. */
export function prepend(state, page) {
  const known = new Set(state.messages.map((message) => message.id));
  const older = page.items.filter((message) => !known.has(message.id)).map(counted);
  return { ...state, messages: [...older, ...state.messages], older: page.next ?? null };
}

/** What the state is after an event. */
export function apply(state, { id, kind, data }) {
  if (id && id <= state.at) return state;
  const next = change(state, kind, data);
  return id ? { ...next, at: id } : next;
}

/** Whether an answer is in the making. */
export function running(state) {
  return Boolean(state.conversation?.running);
}

/** The calls that wait for approval, oldest first. */
export function waiting(state) {
  const calls = state.messages.flatMap((message) => message.toolCalls);
  return calls.filter(asksForApproval);
}

export function asksForApproval(call) {
  return call.status === 'pending' && Boolean(call.approval);
}

/** The number of the call that a server's question belongs to; nothing if to none. */
export function positionOf({ messageId, callId }) {
  return messageId == null || callId == null ? null : Number(callId);
}

/** Where the progress of a call is kept. */
export function callKey(call) {
  return `${call.messageId}/${call.position}`;
}

function change(state, kind, data) {
  switch (kind) {
    case 'message.created':
      return created(state, data.message);
    case 'message.delta':
      return withMessage(state, data.messageId, (message) => extended(message, data));
    case 'message.reasoning':
      return {
        ...state,
        thoughts: { ...state.thoughts, [data.messageId]: (state.thoughts[data.messageId] ?? '') + data.text },
      };
    case 'run.notice':
      return noticed(state, data);
    case 'message.completed':
      return completed(state, data);
    case 'assistant.toolCall.updated':
      return called(state, data);
    case 'toolCall.progress':
      return { ...state, progress: { ...state.progress, [callKey(data)]: data } };
    case 'elicitation.requested':
      return asked(state, data);
    case 'elicitation.resolved':
      return { ...state, questions: state.questions.filter((question) => question.id !== data.id) };
    case 'usage.updated':
      return withMessage({ ...state, totals: data.totals }, data.messageId, (message) => ({ ...message, usage: data.answer }));
    case 'run.finished':
      return {
        ...state,
        finished: data,
        conversation: state.conversation && { ...state.conversation, running: false },
      };
    case 'conversation.updated':
      return updated(state, data.conversation);
    case 'conversation.switched':
      return { ...state, stale: true };
    case 'conversation.deleted':
      return { ...state, deleted: true };
    default:
      return state;
  }
}

function created(state, message) {
  if (state.messages.some(({ id }) => id === message.id)) return state;
  const messages = [...state.messages, counted(message)].sort((one, other) => one.seq - other.seq);
  return { ...state, messages, finished: null };
}

/** Text at its place: what is there already is dropped, and where some is missing nothing is added. */
function extended(message, { offset, text }) {
  const points = Array.from(text);
  const known = message.length - offset;
  if (known < 0) return null;
  if (known >= points.length) return message;
  const rest = known === 0 ? text : points.slice(known).join('');
  return { ...message, content: message.content + rest, length: offset + points.length };
}

/** Adds a notice to an answer, once. */
function noticed(state, { messageId, message }) {
  const known = state.notices[messageId] ?? [];
  if (known.includes(message)) return state;
  return { ...state, notices: { ...state.notices, [messageId]: [...known, message] } };
}

function completed(state, data) {
  const reported = data.message ?? {};
  return withMessage(state, reported.id ?? data.messageId, (message) => {
    const finish = data.finish ?? reported.finish ?? message.finish;
    return counted({ ...message, content: reported.content ?? message.content, finish });
  });
}

function called(state, call) {
  return withMessage(state, call.messageId, (message) => {
    const toolCalls = message.toolCalls.filter(({ position }) => position !== call.position);
    toolCalls.push(call);
    toolCalls.sort((one, other) => one.position - other.position);
    return { ...message, toolCalls };
  });
}

function asked(state, question) {
  if (state.questions.some(({ id }) => id === question.id)) return state;
  return { ...state, questions: [...state.questions, question] };
}

function updated(state, conversation) {
  const finished = conversation.running ? null : state.finished;
  return { ...state, conversation: { ...state.conversation, ...conversation }, finished };
}

/** Changes one message. If it cannot be changed so, something was missed: the page loads anew. */
function withMessage(state, id, edit) {
  const place = state.messages.findIndex((message) => message.id === id);
  if (place < 0) return state;
  const message = edit(state.messages[place]);
  if (message === null) return { ...state, stale: true };
  if (message === state.messages[place]) return state;
  return { ...state, messages: state.messages.with(place, message) };
}

/** How the last answer ended, if it has; read from its row after a reload. */
function ended(conversation, last) {
  if (!last || last.role !== 'assistant' || conversation?.running || conversation?.waiting) return null;
  return { messageId: last.id, reason: last.finish ?? 'interrupted', message: last.finishMessage };
}

/** A message with the number of its characters, so that pieces find their place. */
function counted(message) {
  return { ...message, toolCalls: message.toolCalls ?? [], length: Array.from(message.content).length };
}
