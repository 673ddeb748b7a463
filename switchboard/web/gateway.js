// The gateway: what runs, which calls wait for an answer, what was called, and how to connect.

import { get, post, query } from './api.js';
import { button, fill, h } from './dom.js';
import { count, span, when } from './format.js';
import { act, failed } from './notices.js';
import { copyText } from './prose.js';

const EVERY = 2000;
const DECISIONS = {
  allowed: ['allowed', 'good'],
  approved: ['approved', 'good'],
  denied: ['denied', 'bad'],
  declined: ['declined', 'bad'],
  not_askable: ['could not be asked', 'warn'],
  expired: ['not answered in time', 'warn'],
};
const STATES = { connected: 'good', failed: 'bad', 'left out': 'bad' };

export function gatewayView() {
  const waiting = h('section', { 'aria-label': 'Calls that wait', 'aria-live': 'polite' });
  const running = h('section', { 'aria-label': 'Running gateways' });
  const calls = h('div', {});
  const connect = h('section', { 'aria-label': 'Connect a client' });
  const search = h('input', {
    type: 'search',
    placeholder: 'Caller, tool, decision…',
    'aria-label': 'Search the audit log',
    oninput: () => load().catch(failed),
  });
  const element = h(
    'div',
    { class: 'view' },
    h(
      'p',
      { class: 'lead' },
      'All your servers behind one endpoint, for any MCP client. Every call is decided about and recorded.',
    ),
    waiting,
    running,
    h('section', {}, h('h2', {}, 'Audit log'), search, calls),
    connect,
  );
  let drawn = {};
  /** Draws a part if what it shows is new, so that what is selected or focused stays so. */
  function draw(name, place, data, children) {
    const text = JSON.stringify(data);
    if (drawn[name] === text) return;
    drawn[name] = text;
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
    draw('running', running, fresh, () => [h('h2', {}, 'Running'), ...gateways(now.gateways)]);
    draw('calls', calls, items, () => audit(items));
    draw('connect', connect, [now.clients, now.tokens], () => howTo(now));
  }
  const again = () => load().catch(failed);
  again();
  // Gateways are other processes: they are looked at, they do not call.
  const timer = setInterval(() => document.hidden || load().catch(() => {}), EVERY);
  return { title: 'Gateway', element, leave: () => clearInterval(timer) };
}

function amount(number, what) {
  return `${count(number)} ${what}${number === 1 ? '' : 's'}`;
}

function ask(question, load) {
  const answer = (allow, control) =>
    act(control, async () => {
      await post(`gateway/questions/${question.id}`, { digest: question.digest, allow });
      await load();
    });
  const name = `${question.tool} of ${question.server}`;
  const yes = button('Run once', () => answer(true, yes), {
    class: 'button primary',
    'aria-label': `Run ${name} once`,
  });
  const no = button('Do not run', () => answer(false, no), { 'aria-label': `Do not run ${name}` });
  const who = [question.caller, question.client].filter(Boolean).join(' · ') || 'A client';
  return h(
    'div',
    { class: 'card' },
    h('div', { class: 'card-head' }, h('h2', {}, `${who} wants to call ${name}`)),
    h('pre', { class: 'code' }, question.arguments),
    h(
      'p',
      { class: 'quiet' },
      `Its client cannot ask you itself. Asked ${when(question.askedAt)}; it waits until ${when(question.expiresAt)}.`,
    ),
    h('div', { class: 'buttons' }, yes, no),
  );
}

function gateways(items) {
  if (!items.length) return [h('p', { class: 'empty' }, 'No gateway runs. A client that is connected starts one.')];
  return items.map((gateway) => {
    const place = gateway.url ?? 'Over its client’s standard input and output';
    const sessions = gateway.transport === 'http' ? `${amount(gateway.sessions, 'session')} · ` : '';
    const facts = `${sessions}${amount(gateway.calls, 'call')} · since ${when(gateway.startedAt)} · process ${gateway.pid}`;
    return h(
      'div',
      { class: 'card' },
      h(
        'div',
        { class: 'card-head' },
        h('h2', {}, place),
        gateway.assistant ? h('span', { class: 'badge' }, gateway.assistant) : null,
      ),
      h('p', { class: 'quiet' }, facts),
      h(
        'p',
        {},
        gateway.servers.map((server) => [
          h('span', { class: `badge ${STATES[server.state] ?? ''}` }, `${server.name}: ${server.state}`),
          ' ',
        ]),
        gateway.servers.length ? null : 'It has no servers.',
      ),
      gateway.servers.filter((server) => server.problem).map((server) =>
        h('p', { class: 'quiet' }, `${server.name}: ${server.problem}`),
      ),
      gateway.running.map((call) =>
        h(
          'p',
          {},
          h('span', { class: 'badge warn' }, 'running'),
          ` ${[call.caller, call.client].filter(Boolean).join(' · ')} calls `,
          h('span', { class: 'mono' }, `${call.server}/${call.tool}`),
          ` since ${when(call.since)}`,
        ),
      ),
    );
  });
}

function audit(items) {
  if (!items.length) return [h('p', { class: 'empty' }, 'No calls.')];
  const heads = ['When', 'Caller', 'Tool', 'Decision', 'Outcome', 'Took'];
  const head = h('tr', {}, heads.map((text) => h('th', { scope: 'col' }, text)));
  const rows = items.map((call) => {
    const [words, kind] = DECISIONS[call.decision] ?? [call.decision, ''];
    const outcome = call.outcome === 'succeeded' ? '' : 'bad';
    return h(
      'tr',
      {},
      h('td', { class: 'quiet' }, when(call.time)),
      h('td', {}, [call.caller, call.client].filter(Boolean).join(' · ')),
      h('td', { class: 'mono' }, `${call.server}/${call.tool}`),
      h('td', {}, h('span', { class: `badge ${kind}` }, words)),
      h('td', {}, call.outcome ? h('span', { class: `badge ${outcome}` }, call.outcome) : ''),
      h('td', { class: 'quiet' }, call.durationMs === null ? '' : span(call.durationMs)),
    );
  });
  const table = h('table', { class: 'rows' }, h('thead', {}, head), h('tbody', {}, rows));
  return [h('div', { class: 'wide' }, table)];
}

function howTo({ clients, tokens }) {
  const lines = clients.map((client) => `switchboard gateway install ${client}`);
  const names = tokens.map((token) => (token.assistant ? `${token.name} (${token.assistant})` : token.name));
  return [
    h('h2', {}, 'Connect a client'),
    h(
      'p',
      {},
      'This shows what it would write into the client’s file, asks, and keeps a copy. With --move the servers of the client move behind the gateway; “uninstall” undoes it.',
    ),
    ...lines.map(command),
    h('p', {}, 'Over HTTP, with a token for each client:'),
    command('switchboard gateway tokens add NAME'),
    command('switchboard gateway --http 127.0.0.1:8930'),
    h('p', { class: 'quiet' }, names.length ? `Tokens: ${names.join(', ')}` : 'There are no tokens yet.'),
  ];
}

function command(line) {
  const copy = button('Copy', () => copyText(line, copy), {
    class: 'button small',
    'aria-label': `Copy ${line}`,
  });
  return h('div', { class: 'command' }, h('code', { class: 'mono' }, line), copy);
}
