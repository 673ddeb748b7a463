// Ways in: links with keys and one-time codes, addresses of views; and what says who answers.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after } from 'node:test';
import { picture, quit, said, say, scene, until } from './browser.mjs';
import { Program } from './program.mjs';

// A model that refuses until the test lets it answer.
let refuses = true;
const model = createServer((request, response) => {
  request.resume();
  if (request.method !== 'POST') response.end('{"object":"list","data":[]}');
  else if (refuses) response.writeHead(400).end('{"error":{"message":"no credit left"}}');
  else {
    const chunk = { choices: [{ index: 0, delta: { content: 'At last.' }, finish_reason: 'stop' }] };
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  }
});
model.listen(0, '127.0.0.1');
await once(model, 'listening');

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
  model.closeAllConnections();
  model.close();
});

const token = (page) => page.evaluate(() => localStorage.getItem('switchboard.token'));

scene(program, 'a link with a wrong key changes nothing', { expect: [/status of 401/] }, async (visitor) => {
  const page = await visitor.open();
  assert.equal(await token(page), program.token);
  await page.evaluate(() => {
    location.hash = '#token=x';
  });
  await page.getByText(/^The key in that link is not valid/).waitFor();
  assert.equal(await token(page), program.token);
  const other = await visitor.context.newPage();
  await other.goto(`${program.url}/#token=y`);
  await other.locator('#side').waitFor({ state: 'attached' });
  assert.equal(await token(other), program.token);
  assert.equal(new URL(other.url()).hash, '');
});

scene(program, 'a view is found by its path as well', {}, async (visitor) => {
  const page = await visitor.open();
  await page.goto(`${program.url}/settings/mcp`);
  await page.getByRole('heading', { name: 'Servers', level: 1 }).waitFor();
  assert.equal(new URL(page.url()).hash, '#/settings/mcp');
  await page.goto(`${program.url}/assistants/`);
  await page.getByRole('heading', { name: 'Assistants', level: 1 }).waitFor();
});

scene(
  program,
  'a browser is started with a code that opens the page once, never with the key',
  { expect: [/status of 40[13]/] },
  async (visitor) => {
    const started = join(program.folder, 'started-with');
    const opener = join(program.folder, 'bin', 'xdg-open');
    await writeFile(opener, `#!/bin/sh\necho "$@" > '${started}.new' && mv '${started}.new' '${started}'\n`);
    await chmod(opener, 0o755);
    await program.kill();
    program.args = ['--open'];
    await program.begin();
    await until(() => readFile(started).then(() => true, () => false), 'a browser was started');
    const link = (await readFile(started, 'utf8')).trim();
    assert.ok(!link.includes(program.token));
    assert.match(link, /#code=/);
    const page = await visitor.context.newPage();
    await page.goto(link);
    await page.locator('#side').waitFor({ state: 'attached' });
    assert.equal(await token(page), program.token);
    assert.equal(new URL(page.url()).hash, '');
    await page.evaluate(() => localStorage.clear());
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText(/was used already/).waitFor();
    assert.equal(await token(page), null);
  },
);

scene(
  program,
  'the banner of the demo goes with a real model, and a model’s error offers to try again',
  {},
  async (visitor) => {
    const page = await visitor.open('settings');
    const banner = page.getByText('Demo model, not an AI.');
    await banner.waitFor();
    await program.api('PUT', 'settings', {
      'endpoints.mine.base_url': `http://127.0.0.1:${model.address().port}/v1`,
    });
    await page.getByLabel('Model').fill('mine/some');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    await banner.waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'New chat' }).click();
    await say(page, 'Hello?');
    await page.getByText(/no credit left/).first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Continue' }).count(), 0);
    await picture(page, 'chat-model-error');
    refuses = false;
    await page.getByRole('button', { name: 'Retry' }).click();
    await said(page, 'At last.').waitFor();

    // A chat with the demo model shows it again.
    const chat = await program.api('POST', 'conversations', { model: 'demo' });
    await page.evaluate((to) => {
      location.hash = `#/chat/${to}`;
    }, chat.id);
    await banner.waitFor();
    await program.api('PUT', 'settings', { model: null, 'endpoints.mine.base_url': null });
  },
);
