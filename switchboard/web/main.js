// Opens the page: token, live line, frame, and the view the address names.

import { forgetToken, get, hasToken, onRefused } from './api.js';
import { approvalsView } from './approvals.js';
import { assistantsView } from './assistants.js';
import { chatView } from './chat.js';
import { fill, h } from './dom.js';
import { keepDraftsOf } from './drafts.js';
import { frame } from './frame.js';
import { gate } from './gate.js';
import { gatewayView } from './gateway.js';
import { historyView } from './history.js';
import { start } from './live.js';
import { hasSession, takeProblem, takeToken, ways } from './login.js';
import { failed, notice } from './notices.js';
import { tellWhetherInView } from './notify.js';
import { restoreQueues } from './queue.js';
import { route } from './router.js';
import { serverView } from './server.js';
import { serversView } from './servers.js';
import { settingsView } from './settings.js';
import { listenForKeys } from './shortcuts.js';
import { language, text } from './text.js';
import { toolsView } from './tools.js';

const VIEWS = {
  chat: chatView,
  servers: serversView,
  server: serverView,
  tools: toolsView,
  assistants: assistantsView,
  approvals: approvalsView,
  gateway: gatewayView,
  history: historyView,
  settings: settingsView,
  lost: () => ({
    title: text.page.notFound,
    element: h('div', { class: 'view' }, h('p', {}, text.page.notFoundText)),
  }),
};

const root = document.getElementById('app');
document.documentElement.lang = language;
document.querySelector('.skip').textContent = text.page.skip;
document.getElementById('spoken').setAttribute('aria-label', text.page.spoken);
let shown = null;
/** Whose page this is; the browser's tabs tell each other. */
let user = null;
const USER = 'switchboard.user';
const users = globalThis.BroadcastChannel && new BroadcastChannel(USER);

function refused() {
  forgetToken();
  shown?.leave?.();
  shown = null;
  gate(root, text.page.expired, open);
}

async function open() {
  const health = await get('health');
  user = health.user;
  // What another user wrote in this tab is not for this one.
  if (sessionStorage.getItem(USER) !== user) sessionStorage.clear();
  sessionStorage.setItem(USER, user);
  users?.postMessage(user);
  keepDraftsOf(user);
  await start(health.user, refused);
  restoreQueues();
  const page = frame(health);
  fill(root, page.element);
  const show = () => {
    const [name, ...about] = route(location.hash);
    shown?.leave?.();
    shown = VIEWS[name](...about);
    page.show(name, about, shown);
  };
  removeEventListener('hashchange', open.show);
  open.show = show;
  addEventListener('hashchange', show);
  if (!open.keys) listenForKeys();
  open.keys = true;
  show();
}

async function begin() {
  const found = await ways();
  const good = await takeToken(found);
  onRefused(refused);
  const stale = text.page.staleLink;
  const problem = takeProblem();
  const session = await hasSession(found);
  if (session) forgetToken();
  if (!hasToken() && (problem || !session)) return gate(root, good ? problem : stale, open);
  if (!good) notice(`${stale} ${text.page.stillHere}`, 'warn');
  try {
    await open();
  } catch (error) {
    if (error.status === 401) return undefined;
    failed(error);
    gate(root, text.page.silent, open);
  }
  return undefined;
}

// A link opened while the page is there already brings its token by the fragment.
addEventListener('hashchange', (event) => {
  if (!/[#&](?:token|code)=/.test(location.hash)) return;
  event.stopImmediatePropagation();
  begin();
});
// Whoever came in by another tab is who asks from this one, too.
users?.addEventListener('message', ({ data }) => {
  if (user === null || data === user) return;
  history.replaceState(null, '', location.pathname);
  location.reload();
});
tellWhetherInView();
begin();
