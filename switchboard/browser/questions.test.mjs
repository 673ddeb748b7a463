// What servers ask is asked in the chat whose call caused it, and nowhere else.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { callOf, picture, quit, said, say, scene } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
});
// A server that asks by requests of its own, which say of no call why.
await program.api('POST', 'mcp-servers', {
  paste: JSON.stringify({
    mcpServers: { asks: { command: 'switchboard', args: ['demo-server', '--era', 'legacy'] } },
  }),
});

const name = (page) => page.getByRole('textbox', { name: 'Name' });
const chat = (page, title) => page.locator('#side').getByRole('link', { name: title });

scene(program, 'a form is shown in its own chat alone, and the other chat says why it waits', {}, async (visitor) => {
  const first = await visitor.open();
  await say(first, 'Ask me my name');
  await callOf(first, 'ask_name').getByRole('button', { name: 'Approve', exact: true }).click();
  await name(first).waitFor();
  assert.equal(await callOf(first, 'ask_name').getByText('asks asks').count(), 1, 'under its call');

  const second = await visitor.open();
  await say(second, 'Ask my name as well');
  const call = callOf(second, 'ask_name');
  await call.getByRole('button', { name: 'Approve', exact: true }).click();
  await call.getByText('queued', { exact: true }).waitFor();
  await call.getByText('Queued: asks is waiting for an answer in “Ask me my name”.').waitFor();
  assert.equal(await name(second).count(), 0, 'the form is not here');
  for (const page of [first, second]) {
    await chat(page, /^Ask me my name/).getByText('waiting').waitFor();
    assert.equal(await chat(page, /^Ask my name as well/).getByText('waiting').count(), 0);
  }
  await picture(first, 'question-in-its-chat');
  await picture(second, 'question-queued');

  // Loaded anew it is the same.
  await second.reload();
  await call.getByText('Queued: asks is waiting').waitFor();
  assert.equal(await name(second).count(), 0);

  await name(first).fill('Ada');
  await name(first).press('Enter');
  await said(first, 'ask_name answered: Hello, Ada!').waitFor();
  await name(second).waitFor();
  await call.getByText('running', { exact: true }).waitFor();
  assert.equal(await name(first).count(), 0);
  await chat(first, /^Ask my name as well/).getByText('waiting').waitFor();
  await second.getByRole('button', { name: 'Stop' }).click();
  await name(second).waitFor({ state: 'detached' });
  await chat(first, /^Ask my name as well/).getByText('waiting').waitFor({ state: 'detached' });
});
