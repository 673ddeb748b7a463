// Remembered answers: what runs without a question, and what never runs.

import { get, remove } from './api.js';
import { button, fill, h } from './dom.js';
import { when } from './format.js';
import { act, failed } from './notices.js';

const SCOPES = {
  conversation: 'in one chat',
  tool: 'always',
  server_read_only: 'tools that only read',
  serverReadOnly: 'tools that only read',
  pattern: 'by name',
};
const DECISIONS = { allow: ['runs', 'good'], ask: ['is asked for', ''], deny: ['never runs', 'bad'] };

export function approvalsView() {
  const place = h('div', {});
  const element = h(
    'div',
    { class: 'view' },
    h(
      'p',
      { class: 'lead' },
      'What you decided to be asked no more. A tool whose definition changes is asked about anew.',
    ),
    place,
  );
  async function load() {
    const { items } = await get('approvals');
    if (!items.length) {
      fill(place, h('p', { class: 'empty' }, 'Nothing is remembered.'));
      return;
    }
    const head = h(
      'tr',
      {},
      ['Server', 'Tool', 'What happens', 'Since', ''].map((text) => h('th', { scope: 'col' }, text)),
    );
    fill(
      place,
      h(
        'div',
        { class: 'wide' },
        h('table', { class: 'rows' }, h('thead', {}, head), h('tbody', {}, items.map(row))),
      ),
    );
  }
  function row(rule) {
    const [words, kind] = DECISIONS[rule.decision] ?? [rule.decision, ''];
    const forget = button(
      'Forget',
      () =>
        act(forget, async () => {
          await remove(`approvals/${rule.id}`);
          await load();
        }),
      { class: 'button small', 'aria-label': `Forget the rule about ${rule.tool} of ${rule.server}` },
    );
    const any = (text) => (text === '*' ? 'any' : text);
    return h(
      'tr',
      {},
      h('td', {}, any(rule.server)),
      h('td', { class: 'mono' }, any(rule.tool)),
      h(
        'td',
        {},
        h('span', { class: `badge ${kind}` }, words),
        ' ',
        h('span', { class: 'quiet' }, SCOPES[rule.scope] ?? rule.scope),
      ),
      h('td', { class: 'quiet' }, when(rule.createdAt)),
      h('td', {}, forget),
    );
  }
  load().catch(failed);
  return { title: 'Approvals', element };
}
