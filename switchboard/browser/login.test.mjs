// Logins at a real OpenID provider: the certified `oidc-provider`.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { createServer as createSocket } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { picture, quit, scene } from './browser.mjs';
import { Program } from './program.mjs';

const installed = createRequire(join(process.env.PLAYWRIGHT, 'package.json'));
const { default: Provider } = await import(pathToFileURL(installed.resolve('oidc-provider')));

const PEOPLE = {
  ann: { name: 'Ann', email: 'ann@team.example', groups: [] },
  bob: { name: 'Bob', email: 'bob@team.example', groups: ['developers'] },
  cid: { name: 'Cid', email: 'cid@team.example', groups: ['guests'] },
  eve: { name: 'Eve', email: 'eve@team.example', groups: ['strangers'] },
};
const SCOPE = 'openid email profile groups';

async function freePort() {
  const socket = createSocket().listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

const port = await freePort();
const home = `http://127.0.0.1:${port}`;
let provider = null;
// An answer of the provider that is kept from the browser; `wanted` while the next one is to be.
const held = { wanted: false, url: null };

/** Leads the browser elsewhere than to our callback: a browser's own redirects cannot be held up. */
function holdBack(response) {
  const set = response.setHeader.bind(response);
  response.setHeader = (name, value) => {
    const leads = held.wanted && name.toLowerCase() === 'location' && String(value).includes('/auth/callback');
    if (!leads) return set(name, value);
    Object.assign(held, { wanted: false, url: value });
    return set(name, '/held');
  };
}

// Whoever is asked for logs in: the page of a provider is not what is tested here.
const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://provider');
  if (url.pathname === '/held') return response.end('kept from the browser');
  holdBack(response);
  if (!url.pathname.startsWith('/interaction/')) return provider.callback()(request, response);
  const accountId = url.searchParams.get('as');
  if (accountId) return provider.interactionFinished(request, response, { login: { accountId } });
  const links = Object.keys(PEOPLE).map((it) => `<a href="${url.pathname}?as=${it}">${it}</a>`);
  response.setHeader('Content-Type', 'text/html');
  return response.end(`<!doctype html><title>Provider</title><p>Who are you? ${links.join(' ')}`);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;
provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'switchboard',
      client_secret: 'a-secret-for-tests',
      redirect_uris: [`${home}/auth/callback`],
      post_logout_redirect_uris: [`${home}/`],
    },
  ],
  scopes: SCOPE.split(' '),
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
  cookies: { keys: ['only for tests'] },
  features: {
    devInteractions: { enabled: false },
    // Its own page asks another place for a font.
    rpInitiatedLogout: {
      logoutSource(context, form) {
        context.body = `<!doctype html><title>Provider</title><p>Log out here as well?${form}`;
      },
    },
  },
  pkce: { required: () => true },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email_verified: true, ...PEOPLE[id] }),
  }),
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({
      clientId: oidc.client.clientId,
      accountId: oidc.session.accountId,
    });
    grant.addOIDCScope(SCOPE);
    await grant.save();
    return grant;
  },
});
const program = await Program.start({
  port,
  env: { OIDC_SECRET: 'a-secret-for-tests' },
  args: [
    ...['--oidc-issuer', issuer, '--oidc-client-id', 'switchboard'],
    ...['--oidc-client-secret', 'env:OIDC_SECRET', '--oidc-owner', 'ann@team.example'],
    ...['--oidc-role', 'developers=member', '--oidc-role', 'guests=viewer'],
  ],
});
after(async () => {
  await quit();
  await program.end();
  server.closeAllConnections();
  server.close();
});

// Links lead to the provider, and a browser asks for the icon of its pages.
const expect = [/^request: http:\/\/127\.0\.0\.1:/, /status of 40[134]/, /favicon/];

async function logIn(visitor, who, view = '') {
  const page = await visitor.context.newPage();
  await page.goto(`${program.url}/${view}`);
  await page.getByRole('link', { name: /^Log in with 127\.0\.0\.1/ }).click();
  await page.getByRole('link', { name: who, exact: true }).click();
  return page;
}

const inside = (page) => page.locator('#side').waitFor({ state: 'attached' });
const gate = (page) => page.getByRole('link', { name: /^Log in with/ }).waitFor();
const health = (page) =>
  page.evaluate(async () => {
    const response = await fetch('api/health', { headers: { 'X-Switchboard-Page': '1' } });
    return response.ok ? response.json() : response.status;
  });

scene(program, 'an owner logs in, comes back to the view, and logs out', { expect }, async (visitor) => {
  const page = await logIn(visitor, 'ann', '#/settings');
  await inside(page);
  assert.equal(new URL(page.url()).hash, '#/settings');
  await page.getByText('You are logged in as owner.').waitFor();
  await page.getByRole('heading', { name: 'Users' }).waitFor();
  await picture(page, 'login-settings');
  const [session] = (await visitor.context.cookies(program.url)).filter(({ name }) => name === 'switchboard');
  assert.equal(session.httpOnly, true);
  assert.equal(session.sameSite, 'Strict');
  assert.equal(await page.evaluate(() => document.cookie), '');
  assert.equal(await page.evaluate(() => localStorage.length), 0, 'nothing for a script to steal');
  // A token is shown once.
  await page.getByRole('button', { name: 'New token…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('laptop');
  await page.getByRole('button', { name: 'Make' }).click();
  const token = await page.locator('code.token').textContent();
  assert.match(token, /^sbp_/);
  await page.keyboard.press('Escape');
  const bearer = { headers: { Authorization: `Bearer ${token}` } };
  assert.equal((await fetch(`${program.url}/api/health`, bearer)).status, 200);
  await page.getByRole('button', { name: 'Revoke laptop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke laptop' }).waitFor({ state: 'detached' });
  assert.equal((await fetch(`${program.url}/api/health`, bearer)).status, 401);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(`${issuer}/session/end**`);
  await page.goto(program.url);
  await gate(page);
  assert.equal(await health(page), 401);
});

scene(program, 'groups give roles, and a stranger is refused', { expect }, async (visitor) => {
  const page = await logIn(visitor, 'bob');
  await inside(page);
  assert.equal((await health(page)).role, 'member');
  await visitor.context.clearCookies();
  const viewer = await logIn(visitor, 'cid');
  await inside(viewer);
  assert.equal((await health(viewer)).role, 'viewer');
  await visitor.context.clearCookies();
  const stranger = await logIn(visitor, 'eve');
  await stranger.getByText('You are in no group that may use this. Ask an owner.').waitFor();
  assert.equal(await health(stranger), 401);
});

scene(program, 'a session that has ended leads to the login', { expect }, async (visitor) => {
  const page = await logIn(visitor, 'bob');
  await inside(page);
  const sql = 'UPDATE login_sessions SET expires_at = 0';
  const code = `import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("${sql}"); c.commit()`;
  const ended = spawnSync('python3', ['-c', code, join(program.folder, 'test.db')]);
  assert.equal(ended.status, 0, String(ended.stderr));
  await page.evaluate(() => {
    location.hash = '#/tools';
  });
  await gate(page);
});

scene(program, 'a stolen or replayed answer opens nothing', { expect }, async (visitor) => {
  let answer = null;
  visitor.context.on('request', (request) => {
    if (request.url().includes('/auth/callback')) answer = request.url();
  });
  const page = await logIn(visitor, 'bob');
  await inside(page);
  await visitor.context.clearCookies();
  await page.goto(answer);
  await page.getByText(/^That login was used already/).waitFor();
  assert.equal(await health(page), 401);
  // An answer that never reached the browser that began the login is worth nothing elsewhere.
  held.wanted = true;
  const victim = await visitor.context.newPage();
  await victim.goto(program.url);
  await victim.getByRole('link', { name: /^Log in with/ }).click();
  await victim.getByRole('link', { name: 'bob', exact: true }).click();
  await victim.getByText('kept from the browser').waitFor();
  const cookies = await visitor.context.cookies();
  await visitor.context.clearCookies();
  await page.goto(held.url);
  await page.getByText(/^That login was used already/).waitFor();
  assert.equal(await health(page), 401);
  // The browser that began it still gets in.
  await visitor.context.addCookies(cookies);
  await page.goto(held.url);
  await inside(page);
});

scene(program, 'a link brings no one into another account, and a session wins over a token', { expect }, async (visitor) => {
  // Someone whose own account the visitor is to work in.
  const author = await logIn(visitor, 'ann');
  await inside(author);
  const made = await author.evaluate(async () => {
    const headers = { 'X-Switchboard-Page': '1', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ name: 'bait', scope: 'chat', expiresInDays: 1 });
    return (await fetch('api/tokens', { method: 'POST', headers, body })).json();
  });
  assert.match(made.token, /^sbp_/);
  await visitor.context.clearCookies();
  const kept = (page) => page.evaluate(() => localStorage.getItem('switchboard.token'));
  const lured = await visitor.context.newPage();
  await lured.goto(`${program.url}/#token=${made.token}`);
  await gate(lured);
  assert.equal(await kept(lured), null);
  const page = await logIn(visitor, 'bob');
  await inside(page);
  await page.evaluate((token) => {
    location.hash = `#token=${token}`;
  }, made.token);
  await page.getByText(/^The key in that link is not valid/).waitFor();
  assert.equal(await kept(page), null);
  // One that was kept before gives way to the login.
  await page.evaluate((token) => localStorage.setItem('switchboard.token', token), made.token);
  await page.reload();
  await inside(page);
  assert.equal(await kept(page), null);
});
