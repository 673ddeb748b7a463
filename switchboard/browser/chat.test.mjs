// The first visit, and every answer to an approval.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { callOf, picture, quit, said, say, scene } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
});

scene(program, 'first visit by the link: demo chat, approval, result, answer', {}, async (visitor) => {
  const page = await visitor.open();
  assert.equal(new URL(page.url()).hash, '', 'the token left the address bar');
  await page.getByText('Demo model, not an AI.').waitFor();
  await picture(page, 'new-chat');

  await page.getByRole('button', { name: /^Write a note: buy milk/ }).click();
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  const call = callOf(page, 'write_note');
  const approve = call.getByRole('button', { name: 'Approve', exact: true });
  await approve.waitFor();
  await call.getByText('"text": "buy milk"').waitFor();
  await picture(page, 'chat-approval');
  assert.equal(
    await page.getByRole('button', { name: 'Stop' }).count(),
    1,
    'an answer that waits can be stopped',
  );

  await approve.click();
  await call.getByText('done', { exact: true }).waitFor();
  await call.getByText('Noted: buy milk').first().waitFor();
  await said(page, 'write_note answered: Noted: buy milk').waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  assert.equal(await approve.count(), 0);
  assert.equal(
    await page.evaluate(() => document.activeElement.id),
    'composer',
    'the focus is where one writes',
  );
  await page.getByText(/^This chat: .* tokens in/).waitFor();

  await call.getByRole('button', { expanded: false }).click();
  await call.getByRole('heading', { name: 'Result' }).waitFor();
  await call.getByText('Raw record').waitFor();
  await picture(page, 'chat-result');
});

scene(program, 'deny with a reason: the call does not run and the model learns why', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Write a note: sell milk');
  const call = callOf(page, 'write_note');
  await call.getByRole('button', { name: 'Deny' }).click();
  await call.getByLabel(/Why not/).fill('Not on a Monday');
  await picture(page, 'chat-deny');
  await call.getByRole('button', { name: 'Deny', exact: true }).click();
  await call.getByText('not run').waitFor();
  await page
    .getByText(/Not on a Monday/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  assert.equal(await said(page, 'Noted: sell milk').count(), 0);
});

scene(
  program,
  'edited arguments are what runs; what does not fit is shown and asked again',
  { expect: [/status of 4(?:00|22)/] },
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Write a note: buy tea');
    const call = callOf(page, 'write_note');
    await call.getByRole('button', { name: 'Edit' }).click();
    const args = call.getByLabel('Arguments, as JSON');
    const yes = call.getByRole('button', { name: 'Approve with these' });
    await args.fill('{"text":');
    await yes.click();
    await call.getByText(/That is not JSON/).waitFor();
    await args.fill('{"text": 7}');
    await yes.click();
    await call.getByRole('alert').getByText('`/text`: must be string, but is 7').waitFor();
    await args.fill('{"text": "buy coffee"}');
    await picture(page, 'chat-edit');
    await yes.click();
    await said(page, 'Noted: buy coffee').waitFor();
  },
);

scene(
  program,
  'approve for this chat asks no more in this chat, and asks in the next',
  {},
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Write a note: one');
    await callOf(page, 'write_note').getByRole('button', { name: 'Approve for…' }).click();
    await page.getByRole('menuitem', { name: 'This chat' }).click();
    await said(page, 'write_note answered: Noted: one').waitFor();
    await say(page, 'Write a note: two');
    await said(page, 'write_note answered: Noted: two').waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    await say(page, 'Write a note: three');
    await callOf(page, 'write_note').getByRole('button', { name: 'Approve', exact: true }).click();
    await said(page, 'write_note answered: Noted: three').waitFor();
  },
);

scene(
  program,
  'two tabs: the second answer gets a clear message and the tab goes on',
  { expect: [/status of 409/] },
  async (visitor) => {
    const first = await visitor.open();
    await say(first, 'Write a note: for two');
    await callOf(first, 'write_note').getByRole('button', { name: 'Approve', exact: true }).waitFor();
    const second = await visitor.context.newPage();
    // The second tab hears nothing: it still shows the question when the first has answered it.
    await second.addInitScript(() => delete globalThis.BroadcastChannel);
    await second.route('**/api/events', (route) => route.abort());
    visitor.expected.push(/ERR_FAILED/);
    await second.goto(first.url());
    const late = callOf(second, 'write_note').getByRole('button', { name: 'Approve', exact: true });
    await late.waitFor();
    await callOf(first, 'write_note').getByRole('button', { name: 'Approve', exact: true }).click();
    await said(first, 'write_note answered: Noted: for two').waitFor();
    await late.click();
    await second.getByText(/answered already, perhaps in another tab/).waitFor();
    await said(second, 'write_note answered: Noted: for two').waitFor();
    assert.equal(await late.count(), 0);
    assert.equal(
      await said(second, 'write_note answered: Noted: for two').count(),
      1,
      'nothing is shown twice',
    );
  },
);

scene(program, 'pictures are shown, and a server’s question is a form', {}, async (visitor) => {
  await program.api('PUT', 'settings', { approve: 'ask' });
  const page = await visitor.open();
  await say(page, 'Show me a picture');
  await callOf(page, 'picture').getByRole('button', { name: 'Approve', exact: true }).click();
  const image = callOf(page, 'picture').getByRole('img', { name: 'Picture from the tool' });
  await image.waitFor();
  assert.ok(await image.evaluate((it) => it.complete && it.naturalWidth > 0), 'the picture has loaded');
  await say(page, 'Ask me my name');
  await callOf(page, 'ask_name').getByRole('button', { name: 'Approve', exact: true }).click();
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).first().click();
  await page.getByText('Name is required.').waitFor();
  await name.fill('Ada');
  await picture(page, 'chat-elicitation');
  await name.press('Enter');
  await said(page, 'ask_name answered: Hello, Ada!').waitFor();
});

scene(
  program,
  'a slow call tells how far it is and can be stopped; sounds can be played',
  {},
  async (visitor) => {
    await program.api('PUT', 'settings', { approve: 'ask' });
    const page = await visitor.open();
    await say(page, 'Be slow');
    const slow = callOf(page, 'slow');
    await slow.getByRole('button', { name: 'Edit' }).click();
    await slow.getByLabel('Arguments, as JSON').fill('{"ms": 2000}');
    await slow.getByRole('button', { name: 'Approve with these' }).click();
    await slow.getByText(/^step \d of 5$/).waitFor();
    await slow.getByRole('progressbar', { name: 'Progress' }).waitFor();
    await picture(page, 'chat-progress');
    await page.getByRole('button', { name: 'Stop' }).click();
    await slow.getByText('stopped', { exact: true }).waitFor();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    await say(page, 'Make a sound');
    await callOf(page, 'sound').getByRole('button', { name: 'Approve', exact: true }).click();
    await callOf(page, 'sound').locator('audio[src^="blob:"]').waitFor();
  },
);

scene(
  program,
  'settings hold for the next answer: what only reads runs without a question',
  {},
  async (visitor) => {
    await program.api('PUT', 'settings', { approve: 'ask' });
    const page = await visitor.open('settings');
    await page.getByLabel('Approvals').selectOption('auto-read');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. The next answer uses it.').waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    await say(page, 'What time was it yesterday?');
    await said(page, /get_time answered/).waitFor();
    await say(page, 'Write a note: ask me');
    await callOf(page, 'write_note').getByRole('button', { name: 'Approve', exact: true }).waitFor();
  },
);

scene(program, 'a result that is shown in part can be saved whole', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'a big text of 1000000 letters');
  const call = callOf(page, 'big');
  await call.getByText('done', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await call.getByRole('button', { expanded: false }).click();
  const download = page.waitForEvent('download');
  await call.getByRole('button', { name: 'Save the whole result' }).click();
  const saved = await download;
  assert.equal(saved.suggestedFilename(), 'big.txt');
  const text = await readFile(await saved.path(), 'utf8');
  const line = 'All work and no play makes a very long text.\n';
  assert.equal(text.length, 1_000_000);
  assert.ok(text === line.repeat(1_000_000 / line.length + 1).slice(0, 1_000_000));
});

scene(
  program,
  'settings hold for the next answer: what only reads runs without a question',
  {},
  async (visitor) => {
    const page = await visitor.open('settings');
    await page.getByLabel('Approvals').selectOption('auto-read');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. The next answer uses it.').waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    await say(page, 'What time was it yesterday?');
    await said(page, /get_time answered/).waitFor();
    await say(page, 'Write a note: ask me');
    await callOf(page, 'write_note').getByRole('button', { name: 'Approve', exact: true }).waitFor();
  },
);
