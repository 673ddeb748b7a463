// Another page on this machine tries everything a browser lets it, and gets nothing.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { after, test } from 'node:test';
import { launch, quit } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
const evil = createServer((_, response) =>
  response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>evil</title><body>'),
);
evil.listen(0, '127.0.0.1');
await once(evil, 'listening');
const elsewhere = `http://localhost:${evil.address().port}`;
after(async () => {
  await quit();
  evil.close();
  evil.closeAllConnections();
  await program.end();
});

test('a page on another origin gets nothing, even with the token', async () => {
  const context = await (await launch()).newContext();
  const page = await context.newPage();
  await page.goto(elsewhere);
  const tried = await page.evaluate(
    async ({ url, token }) => {
      const found = {};
      const attempt = async (name, action) => {
        found[name] = await action().then(
          (value) => `got ${JSON.stringify(value)}`,
          () => 'nothing',
        );
      };
      const headers = { Authorization: `Bearer ${token}` };
      await attempt('fetch', async () => (await fetch(`${url}/api/health`)).text());
      await attempt('fetch with the token', async () =>
        (await fetch(`${url}/api/health`, { headers })).text(),
      );
      await attempt('fetch of the page', async () => (await fetch(`${url}/`)).text());
      await attempt('blind fetch', async () => {
        const answer = await fetch(`${url}/api/health`, { mode: 'no-cors' });
        const text = await answer.text();
        if (!text) throw new Error('opaque');
        return text;
      });
      await attempt(
        'event source',
        () =>
          new Promise((resolve, reject) => {
            const source = new EventSource(`${url}/api/events?token=${token}`);
            source.onopen = () => resolve('open');
            source.onerror = () => reject(new Error('closed'));
          }),
      );
      await attempt(
        'web socket',
        () =>
          new Promise((resolve, reject) => {
            const socket = new WebSocket(`${url.replace('http', 'ws')}/api/events`);
            socket.onopen = () => resolve('open');
            socket.onerror = () => reject(new Error('closed'));
          }),
      );
      for (const path of ['/icon.svg', '/api/health']) {
        await attempt(
          `img ${path}`,
          () =>
            new Promise((resolve, reject) => {
              const image = new Image();
              image.onload = () => resolve('loaded');
              image.onerror = () => reject(new Error('blocked'));
              image.src = url + path;
            }),
        );
      }
      await attempt(
        'script',
        () =>
          new Promise((resolve, reject) => {
            const script = document.createElement('script');
            script.onload = () => resolve('loaded');
            script.onerror = () => reject(new Error('blocked'));
            script.src = `${url}/api.js`;
            document.head.append(script);
          }),
      );
      return found;
    },
    { url: program.url, token: program.token },
  );
  for (const [name, outcome] of Object.entries(tried)) assert.equal(outcome, 'nothing', name);
  await context.close();
});

test('a form posted from another origin changes nothing', async () => {
  const before = await program.api('GET', 'conversations');
  const context = await (await launch()).newContext();
  const page = await context.newPage();
  await page.goto(elsewhere);
  const answered = page.waitForResponse((response) => response.url() === `${program.url}/api/conversations`);
  await page.evaluate((url) => {
    const form = document.createElement('form');
    Object.assign(form, { method: 'POST', action: `${url}/api/conversations`, enctype: 'text/plain' });
    const field = document.createElement('input');
    Object.assign(field, { name: '{"title":"evil', value: '"}' });
    form.append(field);
    document.body.append(form);
    form.submit();
  }, program.url);
  assert.ok([401, 403].includes((await answered).status()));
  assert.deepEqual(await program.api('GET', 'conversations'), before);
  await context.close();
});

test('a page that opens or frames ours has no hold of it', async () => {
  const context = await (await launch()).newContext();
  const ours = await context.newPage();
  await ours.goto(program.link);
  await ours.getByRole('heading', { name: 'New chat' }).waitFor();
  const page = await context.newPage();
  await page.goto(elsewhere);
  const popup = context.waitForEvent('page');
  const held = await page.evaluate((url) => {
    globalThis.opened = open(url);
    return Boolean(globalThis.opened);
  }, program.url);
  const opened = await popup;
  await opened.getByRole('heading', { name: 'New chat' }).waitFor();
  assert.equal(await opened.evaluate(() => opener), null, 'the page does not know who opened it');
  const view = await page.evaluate(() => {
    try {
      return { closed: globalThis.opened.closed, title: globalThis.opened.document.title };
    } catch {
      return 'nothing';
    }
  });
  assert.ok(held && (view === 'nothing' || view.closed === true), JSON.stringify(view));
  await page.evaluate((url) => {
    const frame = document.createElement('iframe');
    frame.src = url;
    document.body.append(frame);
    return new Promise((resolve) => {
      frame.onload = resolve;
    });
  }, program.url);
  const framed = page.frames().find((frame) => frame !== page.mainFrame());
  assert.equal(await framed.evaluate(() => document.querySelector('#app')), null, 'it cannot be framed');
  await context.close();
});

test('a name of someone else’s that points here is refused', async () => {
  const asked = request({
    host: '127.0.0.1',
    port: program.port,
    path: '/',
    headers: { Host: `evil.example:${program.port}` },
  });
  asked.end();
  const [response] = await once(asked, 'response');
  response.resume();
  assert.ok([403, 421].includes(response.statusCode));
});

test('without a token there is a door, and a wrong one does not open it', async () => {
  const context = await (await launch()).newContext();
  const page = await context.newPage();
  await page.goto(program.url);
  await page.getByRole('heading', { name: 'Switchboard' }).waitFor();
  await page.getByLabel('The link, or the token in it').fill('wrong');
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText('That token does not open this page.').waitFor();
  await page.getByLabel('The link, or the token in it').fill(program.link);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('heading', { name: 'New chat' }).waitFor();
  await context.close();
});
