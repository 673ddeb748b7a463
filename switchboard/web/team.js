// The user's own way in: role, access tokens; and for owners, who else may come.

import { get, patch, post, remove } from './api.js';
import { confirm, openDialog, openForm } from './dialog.js';
import { button, fill, h } from './dom.js';
import { labelled, numberIn, select, textIn } from './fields.js';
import { when } from './format.js';
import { logOut } from './login.js';
import { failed, notice } from './notices.js';
import { text } from './text.js';

const t = text.team;

/** The sections of the settings about who may come in. */
export function teamSections() {
  const element = h('div', {});
  load(element).catch(failed);
  return element;
}

async function load(element) {
  const [health, tokens] = await Promise.all([get('health'), get('tokens')]);
  const users = health.role === 'owner' && health.by !== 'link' ? await get('users') : null;
  const again = () => load(element).catch(failed);
  fill(element, access(health, tokens.items, again), users && people(health, users.items, again));
}

function access({ by, role }, tokens, again) {
  const row = (it) =>
    h(
      'tr',
      {},
      h('td', {}, it.name),
      h('td', { class: 'quiet' }, t.scopes[it.scope]),
      h('td', { class: 'quiet' }, it.expiresAt ? t.until(when(it.expiresAt)) : t.endless),
      h('td', { class: 'quiet' }, it.usedAt ? t.used(when(it.usedAt)) : t.unused),
      h('td', {}, button(t.revoke, () => revoke(it, again), { 'aria-label': t.revokeLabel(it.name) })),
    );
  return h(
    'section',
    {},
    h('h2', {}, t.access),
    by === 'session' &&
      h('p', {}, t.loggedIn(t.roles[role] ?? role), ' ', button(t.logOut, () => logOut().catch(failed))),
    h('p', { class: 'quiet' }, t.tokensLead),
    tokens.length > 0 &&
      h('div', { class: 'wide' }, h('table', { class: 'rows' }, h('tbody', {}, tokens.map(row)))),
    by !== 'token' && h('p', {}, button(t.newToken, () => add(again))),
  );
}

function add(again) {
  const name = h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
  const scope = select(Object.entries(t.scopes), 'chat');
  const days = h('input', { type: 'text', inputmode: 'numeric', value: '90' });
  openForm(
    t.newTokenTitle,
    [
      labelled(text.common.name, name, t.nameHelp),
      labelled(t.may, scope),
      labelled(t.ends, days),
    ],
    t.make,
    async () => {
      const made = await post('tokens', {
        name: textIn(name, t.nameName),
        scope: scope.value,
        expiresInDays: numberIn(days, t.endsName, { whole: true, min: 1, max: 3660 }),
      });
      again();
      shown(made);
    },
    { controls: { name, scope, expiresInDays: days } },
  );
}

function shown({ name, token }) {
  openDialog(
    t.tokenTitle(name),
    h(
      'div',
      {},
      h('p', {}, t.tokenText),
      h('p', {}, h('code', { class: 'token' }, token)),
    ),
  );
}

async function revoke({ id, name }, again) {
  if (!(await confirm(t.revokeTitle(name), t.revokeText, t.revoke))) return;
  await remove(`tokens/${id}`).catch(failed);
  again();
}

function people(health, users, again) {
  const change = (user, edit) =>
    patch(`users/${user.id}`, edit)
      .then(() => notice(t.changed(user.name)))
      .catch(failed)
      .finally(again);
  const row = (user) => {
    const role = select(Object.entries(t.roles), user.role, {
      'aria-label': t.roleOf(user.name),
      disabled: user.id === health.user,
    });
    role.addEventListener('change', () => change(user, { role: role.value }));
    return h(
      'tr',
      {},
      h('td', {}, user.name, user.blocked && h('span', { class: 'badge' }, t.blocked)),
      h('td', { class: 'quiet' }, user.email ?? user.id),
      h('td', {}, role),
      h(
        'td',
        {},
        user.id !== health.user &&
          button(user.blocked ? t.letIn : t.block, () => change(user, { blocked: !user.blocked }), {
            'aria-label': user.blocked ? t.letInLabel(user.name) : t.blockLabel(user.name),
          }),
      ),
    );
  };
  return h(
    'section',
    {},
    h('h2', {}, t.users),
    h('div', { class: 'wide' }, h('table', { class: 'rows' }, h('tbody', {}, users.map(row)))),
  );
}
