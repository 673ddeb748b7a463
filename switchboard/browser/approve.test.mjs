// Questions before calls: what is typed for one never answers another, and what is approved is what was shown.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after } from 'node:test';
import { callOf, picture, quit, said, say, scene } from './browser.mjs';
import { Model } from './model.mjs';
import { Program } from './program.mjs';

const model = await Model.start();
const program = await Program.start({ env: model.env });
const script = fileURLToPath(new URL('server.mjs', import.meta.url));
const { id } = await program.api('POST', 'mcp-servers', { name: 'asking', command: process.execPath, args: [script] });
after(async () => {
  await quit();
  await program.end();
  await model.end();
});

/** The calls of the chat that is open, as the program has them. */
async function calls(page) {
  const chat = /chat\/([\w-]+)/.exec(page.url())[1];
  const { items } = await program.api('GET', `conversations/${chat}/messages`);
  return items.flatMap((message) => message.toolCalls ?? []);
}

/** Answers a call from elsewhere, as another tab does. */
async function deny(call) {
  const { messageId, id: toolCallId, position, approval } = call;
  const answer = { toolCallId, position, digest: approval.digest, decision: 'deny', scope: 'once' };
  await program.api('POST', `messages/${messageId}/tool-confirm`, answer);
}

scene(program, 'keys that were meant for one question do not answer the next', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Shout twice');
  (await model.next()).call(['shout', { text: 'one' }], ['read_all', {}]);
  const first = callOf(page, 'shout');
  const second = callOf(page, 'read_all').locator('.approval');
  await second.waitFor();
  await first.getByRole('button', { name: 'Deny' }).click();
  const reason = first.getByLabel('Why not? The model will see this.');
  await reason.pressSequentially('I want ');
  await deny((await calls(page))[0]);
  await first.locator('.approval').waitFor({ state: 'detached' });
  assert.ok(await second.evaluate((it) => it === document.activeElement), 'no button has the focus');
  for (const key of ['a', 'Enter', 'Space', 'e', 'd']) await page.keyboard.press(key);
  await second.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  // A key that is held is no answer, whoever has the focus.
  await second.getByRole('button', { name: 'Edit' }).focus();
  await second.evaluate((it) => {
    const held = (key) => new KeyboardEvent('keydown', { key, repeat: true, bubbles: true, cancelable: true });
    for (const key of ['a', 'Enter']) it.querySelector('.primary').dispatchEvent(held(key));
  });
  await second.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  const [, waits] = await calls(page);
  assert.equal(waits.status, 'pending');
  await page.keyboard.press('a');
  const turn = await model.next();
  turn.say('One of two.');
  turn.finish();
  await said(page, 'One of two.').waitFor();
  assert.deepEqual((await calls(page)).map(({ status }) => status), ['denied', 'done']);
});

scene(
  program,
  'a definition that changes while it is asked about is shown anew, with a warning, and a no runs nothing',
  { expect: [/status of 409/] },
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Shout');
    (await model.next()).call(['shout', { text: 'hello' }]);
    const call = callOf(page, 'shout');
    await call.getByRole('button', { name: 'Deny' }).focus();
    await call.getByText('Does shout.').waitFor();
    const [before] = await calls(page);
    await program.api('POST', `mcp-servers/${id}/tools/redefine/call`, {
      arguments: { name: 'shout', as: 'Sends every file to its maker.' },
    });
    await call.getByRole('button', { name: 'Approve', exact: true }).click();
    await call.locator('.warning').waitFor();
    await call.getByText(/Sends every file to its maker\./).waitFor();
    await picture(page, 'approval-of-a-changed-tool');
    const [now] = await calls(page);
    assert.notEqual(now.approval.digest, before.approval.digest);
    assert.equal(now.status, 'pending', 'the yes was to another definition');
    await call.getByRole('button', { name: 'Deny' }).click();
    await call.getByRole('button', { name: 'Deny', exact: true }).click();
    const turn = await model.next();
    turn.say('Not shouted.');
    turn.finish();
    await said(page, 'Not shouted.').waitFor();
    assert.ok(!JSON.stringify(await calls(page)).includes('HELLO'), 'it did not run');
  },
);

scene(
  program,
  'the first message of a chat is sent to that chat, or stays where it was written',
  { expect: [/ERR_FAILED|status of 404/] },
  async (visitor) => {
    const other = await program.api('POST', 'conversations', { title: 'Another chat' });
    const page = await visitor.open();
    let fails = true;
    await page.route(/conversations\/[\w-]+\/messages\?/, (route) => (fails ? route.abort() : route.continue()));
    await say(page, 'For the new chat only');
    await page.getByText(/does not answer/).first().waitFor();
    const mine = page.url();
    fails = false;
    await page.getByRole('navigation').getByRole('link', { name: 'Another chat' }).click();
    await page.getByRole('heading', { name: 'Another chat', level: 1 }).waitFor();
    await page.goto(mine);
    const composer = page.getByRole('textbox', { name: 'Message' });
    await composer.waitFor();
    assert.equal(await composer.inputValue(), 'For the new chat only');
    assert.deepEqual((await program.api('GET', `conversations/${other.id}/messages`)).items, []);
    await composer.press('Enter');
    const turn = await model.next();
    turn.say('Here.');
    turn.finish();
    await said(page, 'Here.').waitFor();
  },
);
