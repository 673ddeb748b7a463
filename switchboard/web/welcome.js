// What an empty chat shows: what can be done here.

import { h, link } from './dom.js';

const TRIES = [
  ['What time was it yesterday?', 'a tool that only reads'],
  ['Write a note: buy milk', 'a tool that changes something'],
  ['Show me a picture', 'a result that is no text'],
  ['Ask me my name', 'a server that asks back'],
];

/** The greeting; `say(text)` sends a suggestion. */
export function welcome(say) {
  const tries = TRIES.map(([text, why]) =>
    h(
      'li',
      {},
      h(
        'button',
        { type: 'button', class: 'try', onclick: () => say(text) },
        h('span', {}, text),
        h('span', { class: 'quiet' }, why),
      ),
    ),
  );
  return h(
    'div',
    { class: 'log welcome' },
    h(
      'div',
      { class: 'column' },
      h('h2', {}, 'What shall we do?'),
      h(
        'p',
        { class: 'quiet' },
        'Ask anything. Your servers’ tools are at hand, and nothing that changes something runs before you agree. ',
        link('#/servers', 'Add a server'),
      ),
      h('ul', { class: 'tries' }, tries),
    ),
  );
}
