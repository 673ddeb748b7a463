// What can be done with a server, from wherever it is shown.

import { get, post, put } from './api.js';
import { fill, h, icon, link } from './dom.js';
import { notice } from './notices.js';
import { plain, plainLines, span } from './format.js';
import { openDialog } from './dialog.js';
import { saveFile } from './result.js';
import { text } from './text.js';

const t = text.servers;

/** Saves fields; an enabled server is connected at once, a disabled one disconnected. */
export async function changeServer(server, fields) {
  const saved = await put(`mcp-servers/${server.id}`, fields);
  if (fields.isActive === undefined) return saved;
  return post(`mcp-servers/${server.id}/${fields.isActive ? 'connect' : 'disconnect'}`);
}

/** Connects a new server, so that its card shows whether it works, and returns it. */
export async function tryOut(server) {
  if (!server.isActive || server.trust === 'pending') return server;
  // Whatever stands in its way, it was added.
  return post(`mcp-servers/${server.id}/connect`).catch(() => server);
}

/** Examines a server as the doctor does, shows the findings in `place`, and gives back the server. */
export async function testServer(server, place) {
  fill(place, h('p', { class: 'quiet' }, t.testing));
  let report;
  try {
    report = await post(`mcp-servers/${server.id}/test`);
  } catch (error) {
    fill(place);
    throw error;
  }
  const facts = [];
  if (report.tools != null) facts.push(t.tools(report.tools));
  if (report.era) facts.push(t.protocol(plain(report.era)));
  if (report.transport) facts.push(report.transport);
  if (report.tookMs != null) facts.push(span(report.tookMs));
  const verdict = h(
    'p',
    { class: report.ok ? 'good' : 'bad' },
    icon(report.ok ? 'check' : 'warn'),
    ` ${report.ok ? t.works : t.fails} `,
    h('span', { class: 'quiet' }, facts.join(' · ')),
  );
  const findings = (report.findings ?? []).map(({ message, advice }) =>
    h('li', {}, h('p', {}, plainLines(message)), advice && h('p', { class: 'hint' }, plainLines(advice))),
  );
  fill(place, verdict, findings.length ? h('ul', { class: 'findings' }, findings) : null);
  // A working server is connected, so that its state shows it; a failing one shows its error.
  return report.ok ? tryOut(server) : get(`mcp-servers/${server.id}`);
}

/** Opens the server's login page in a new tab, by the user's own click. */
export async function login(server) {
  const { url } = await post(`mcp-servers/${server.id}/login`);
  if (!url) {
    notice(t.noLogin(plain(server.name)));
    return;
  }
  // The URL comes from the server: only web pages are opened.
  if (!/^https?:/.test(url)) throw new Error(t.noPage(plain(url)));
  const open = link(url, h('span', {}, t.open(new URL(url).host)), {
    class: 'button primary',
    target: '_blank',
    rel: 'noopener noreferrer',
  });
  const dialog = openDialog(t.logInTitle(plain(server.name)), [
    h('p', {}, t.logInText),
    h('p', { class: 'address' }, plain(url)),
    h('div', { class: 'buttons end' }, open),
  ]);
  open.addEventListener('click', () => dialog.close());
}

export function logout(server) {
  return post(`mcp-servers/${server.id}/logout`);
}

export async function exportServers() {
  const { fileName, text: file, notices } = await get('mcp-servers/export?to=claude-desktop');
  saveFile(new Blob([file], { type: 'application/json' }), fileName);
  for (const it of notices) notice(it, 'warn');
}
