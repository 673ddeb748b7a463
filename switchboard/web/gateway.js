// The gateway: what runs, which calls wait for an answer, what was called, and how to connect.

import { get, post, query } from './api.js';
import { button, fill, h, insert } from './dom.js';
import { plain, plainLines, span, when } from './format.js';
import { act, failed } from './notices.js';
import { copyText } from './prose.js';
import { text } from './text.js';

const t = text.gateway;

const EVERY = 2000;
const DECISIONS = {
  allowed: 'good',
  approved: 'good',
  denied: 'bad',
  declined: 'bad',
  not_askable: 'warn',
  expired: 'warn',
  not_permitted: 'bad',
  too_many: 'warn',
};
const STATES = { connected: 'good', failed: 'bad', 'left out': 'bad' };

export function gatewayView() {
  const waiting = h('section', { 'aria-label': t.waiting, 'aria-live': 'polite' });
  const running = h('section', { 'aria-label': t.runningPart });
  const calls = h('div', {});
  const connect = h('section', { 'aria-label': t.connect });
  const search = h('input', {
    type: 'search',
    placeholder: t.searchHint,
    'aria-label': t.search,
    oninput: () => load().catch(failed),
  });
  const element = h(
    'div',
    { class: 'view' },
    h('p', { class: 'lead' }, t.lead),
    waiting,
    running,
    h('section', {}, h('h2', {}, t.audit), search, calls),
    connect,
  );
  let drawn = {};
  /** Draws a part if what it shows is new, so that what is selected or focused stays so. */
  function draw(name, place, data, children) {
    const now = JSON.stringify(data);
    if (drawn[name] === now) return;
    drawn[name] = now;
    fill(place, ...children());
  }
  async function load() {
    const [now, { items }] = await Promise.all([
      get('gateway'),
      get(`gateway/audit${query({ search: search.value.trim(), limit: 100 })}`),
    ]);
    waiting.hidden = !now.questions.length;
    draw('waiting', waiting, now.questions, () => now.questions.map((question) => ask(question, load)));
    const fresh = now.gateways.map(({ aliveAt, ...rest }) => rest);
    draw('running', running, fresh, () => [h('h2', {}, t.runningTitle), ...gateways(now.gateways)]);
    draw('calls', calls, items, () => audit(items));
    draw('connect', connect, [now.clients, now.tokens], () => howTo(now));
  }
  const again = () => load().catch(failed);
  again();
  // Gateways are other processes: they are looked at, they do not call.
  const timer = setInterval(() => document.hidden || load().catch(() => {}), EVERY);
  return { title: text.page.places.gateway, element, leave: () => clearInterval(timer) };
}

function ask(question, load) {
  const answer = (allow, control) =>
    act(control, async () => {
      await post(`gateway/questions/${question.id}`, { digest: question.digest, allow });
      await load();
    });
  const name = t.of(plain(question.tool), plain(question.server));
  const yes = button(t.once, () => answer(true, yes), {
    class: 'button primary',
    'aria-label': t.onceLabel(name),
  });
  const no = button(t.no, () => answer(false, no), { 'aria-label': t.noLabel(name) });
  const who = plain([question.caller, question.client].filter(Boolean).join(' · ')) || t.client;
  return h(
    'div',
    { class: 'card' },
    h('div', { class: 'card-head' }, h('h2', {}, t.wants(who, name))),
    h('pre', { class: 'code' }, plain(question.arguments)),
    h(
      'p',
      { class: 'quiet' },
      t.asked(when(question.askedAt), when(question.expiresAt)),
    ),
    h('div', { class: 'buttons' }, yes, no),
  );
}

function gateways(items) {
  if (!items.length) return [h('p', { class: 'empty' }, t.none)];
  return items.map((gateway) => {
    const place = gateway.url ?? t.stdio;
    const facts = [
      gateway.transport === 'http' && t.sessions(gateway.sessions),
      t.calls(gateway.calls),
      t.since(when(gateway.startedAt)),
      t.process(gateway.pid),
    ];
    return h(
      'div',
      { class: 'card' },
      h(
        'div',
        { class: 'card-head' },
        h('h2', {}, place),
        gateway.assistant ? h('span', { class: 'badge' }, gateway.assistant) : null,
      ),
      h('p', { class: 'quiet' }, facts.filter(Boolean).join(' · ')),
      h(
        'p',
        {},
        gateway.servers.map((server) => [
          h('span', { class: `badge ${STATES[server.state] ?? ''}` }, plain(`${server.name}: ${t.states[server.state] ?? server.state}`)),
          ' ',
        ]),
        gateway.servers.length ? null : t.noServers,
      ),
      gateway.servers.filter((server) => server.problem).map((server) =>
        h('p', { class: 'quiet' }, plainLines(`${server.name}: ${server.problem}`)),
      ),
      gateway.running.map((call) =>
        h(
          'p',
          {},
          h('span', { class: 'badge warn' }, t.running),
          ' ',
          insert(
            t.callsSince(plain([call.caller, call.client].filter(Boolean).join(' · ')), when(call.since)),
            h('span', { class: 'mono' }, plain(`${call.server}/${call.tool}`)),
          ),
        ),
      ),
    );
  });
}

function audit(items) {
  if (!items.length) return [h('p', { class: 'empty' }, t.noCalls)];
  const head = h('tr', {}, t.heads.map((name) => h('th', { scope: 'col' }, name)));
  const rows = items.map((call) => {
    const kind = DECISIONS[call.decision] ?? '';
    const outcome = ['succeeded', 'task'].includes(call.outcome) ? '' : 'bad';
    return h(
      'tr',
      {},
      h('td', { class: 'quiet' }, when(call.time)),
      h('td', {}, plain([call.caller, call.client].filter(Boolean).join(' · '))),
      h('td', { class: 'mono' }, plain(`${call.server}/${call.tool}`)),
      h('td', {}, h('span', { class: `badge ${kind}` }, t.decisions[call.decision] ?? call.decision)),
      h('td', {}, call.outcome ? h('span', { class: `badge ${outcome}` }, t.outcomes[call.outcome] ?? call.outcome) : ''),
      h('td', { class: 'quiet' }, call.durationMs === null ? '' : span(call.durationMs)),
    );
  });
  const table = h('table', { class: 'rows' }, h('thead', {}, head), h('tbody', {}, rows));
  return [h('div', { class: 'wide' }, table)];
}

function howTo({ clients, tokens }) {
  const lines = clients.map((client) => `switchboard gateway install ${client}`);
  const names = tokens.map((token) => plain(token.assistant ? `${token.name} (${token.assistant})` : token.name));
  return [
    h('h2', {}, t.connect),
    h('p', {}, t.install),
    ...lines.map(command),
    h('p', {}, t.http),
    command('switchboard gateway tokens add NAME'),
    command('switchboard gateway --http 127.0.0.1:8930'),
    h('p', { class: 'quiet' }, names.length ? t.tokens(names.join(', ')) : t.noTokens),
  ];
}

function command(line) {
  const copy = button(text.common.copy, () => copyText(line, copy), {
    class: 'button small',
    'aria-label': t.copyLine(line),
  });
  return h('div', { class: 'command' }, h('code', { class: 'mono' }, line), copy);
}
