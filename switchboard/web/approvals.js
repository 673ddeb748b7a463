// Remembered answers: what runs without a question, and what never runs.

import { get, remove } from './api.js';
import { button, columns, fill, h } from './dom.js';
import { plain, when } from './format.js';
import { act, failed } from './notices.js';
import { text } from './text.js';

const t = text.approvals;
const KINDS = { allow: 'good', ask: '', deny: 'bad' };

export function approvalsView() {
  const place = h('div', {});
  const element = h(
    'div',
    { class: 'view' },
    h('p', { class: 'lead' }, t.lead),
    place,
  );
  async function load() {
    const { items } = await get('approvals');
    if (!items.length) {
      fill(place, h('p', { class: 'empty' }, t.none));
      return;
    }
    const head = columns([t.server, t.tool, t.what, t.since, `[${t.change}]`]);
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
    const forget = button(
      t.forget,
      () =>
        act(forget, async () => {
          await remove(`approvals/${rule.id}`);
          await load();
        }),
      { class: 'button small', 'aria-label': t.forgetRule(plain(rule.tool), plain(rule.server)) },
    );
    const any = (name) => (name === '*' ? t.any : plain(name));
    return h(
      'tr',
      {},
      h('td', {}, any(rule.server)),
      h('td', { class: 'mono' }, any(rule.tool)),
      h(
        'td',
        {},
        h('span', { class: `badge ${KINDS[rule.decision] ?? ''}` }, t.decisions[rule.decision] ?? rule.decision),
        ' ',
        h('span', { class: 'quiet' }, t.scopes[rule.scope] ?? rule.scope),
      ),
      h('td', { class: 'quiet' }, when(rule.createdAt)),
      h('td', {}, forget),
    );
  }
  load().catch(failed);
  return { title: text.page.places.approvals, element };
}
