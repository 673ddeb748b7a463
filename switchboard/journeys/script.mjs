// What the provider's model does: a rule, or a few, for each thing the user says.

import { join } from 'node:path';

/** What the user says, each understood by a rule. */
export const ASKS = {
  sum: 'How much is 19 and 23?',
  remoteSum: 'How much is 20 and 24, says the remote server?',
  form: 'Let the server ask me.',
  remoteForm: 'Let the remote server ask me.',
  big: 'Read my big file.',
  write: 'Write my letter.',
  diary: 'Write my diary.',
  ahead: 'Think a while, then write my novel.',
  long: 'Take your time.',
  small: 'Hello there.',
};

/** The rules. Tools are called as a model has to where there are many: through `tool_call`. */
export function rules(documents) {
  const call = (server, tool, args) => ({
    tool: 'tool_call',
    arguments: { name: `mcp__${server}__${tool}`, arguments: args },
  });
  const write = (name, content) => call('files', 'write_file', { path: join(documents, name), content });
  const numbers = (server, a, b) => call(server, 'get-sum', { a, b });
  const work = (duration, steps) =>
    call('everything', 'trigger-long-running-operation', { duration, steps });
  return [
    ...searched(ASKS.sum, 'sum of two numbers', numbers('everything', 19, 23)),
    ...searched(ASKS.remoteSum, 'sum of two numbers', numbers('remote', 20, 24)),
    { when: [ASKS.form], call: [call('everything', 'trigger-elicitation-request', {})] },
    { when: [ASKS.remoteForm], call: [call('remote', 'trigger-elicitation-request', {})] },
    { when: [ASKS.big], call: [call('files', 'read_text_file', { path: join(documents, 'big.txt') })] },
    { when: [ASKS.write], call: [write('letter.txt', 'Dear Bob')] },
    { when: [ASKS.diary], call: [write('diary.txt', 'Dear diary')] },
    { when: [ASKS.ahead], call: [work(3, 6)] },
    {
      when: [ASKS.ahead],
      after: 'tool_call',
      result: 'operation completed',
      call: [write('novel.txt', 'It was a dark night')],
    },
    { when: [ASKS.long], call: [work(60, 120)] },
    { after: 'tool_call', say: 'The tool says: {result}' },
    { say: 'You said: {question}' },
  ];
}

function searched(when, query, call) {
  return [
    { when: [when], call: [{ tool: 'tool_search', arguments: { query } }] },
    { when: [when], after: 'tool_search', call: [call] },
  ];
}
