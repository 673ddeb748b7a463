// What is set for one chat: how its model answers, and which servers and tools it has; and what an answer used.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { picture, quit, said, say, scene } from './browser.mjs';
import { Model } from './model.mjs';
import { Program } from './program.mjs';

const model = await Model.start();
const program = await Program.start({ env: model.env });
for (const name of ['one', 'two'])
  await program.api('POST', 'mcp-servers', { name, command: 'switchboard', args: ['demo-server', '--stdio'] });
after(async () => {
  await quit();
  await program.end();
  await model.end();
});

const offered = (turn, server, tool) => turn.tools().some((name) => name.includes(server) && name.endsWith(`__${tool}`));

scene(program, 'a chat says how its model answers, and wrong values are refused at their fields', {}, async (visitor) => {
  const page = await visitor.open();
  await page.getByTitle('Assistant, model and approvals').click();
  const dialog = page.getByRole('dialog', { name: 'This chat' });
  const save = dialog.getByRole('button', { name: 'Save', exact: true });
  await dialog.getByLabel('Temperature').fill('3');
  await save.click();
  await dialog.getByText('Temperature must be 2 or less.').waitFor();
  await dialog.getByLabel('Temperature').fill('0.3');
  await dialog.getByLabel('Reasoning effort').selectOption('low');
  await dialog.getByLabel('Maximum tokens in a reply').fill('321');
  await picture(page, 'chat-options');
  await save.click();
  await dialog.waitFor({ state: 'detached' });
  await say(page, 'Hello');
  const turn = await model.next();
  assert.equal(turn.request.temperature, 0.3);
  assert.equal(turn.request.max_completion_tokens ?? turn.request.max_tokens, 321);
  turn.say('Hello.');
  turn.finish();
  await said(page, 'Hello.').waitFor();
  // What it used stands at the answer, also after a reload.
  const facts = page.locator('.message.assistant .facts');
  for (const _ of [1, 2]) {
    await facts.getByText(/gpt-5-mini · 100 tokens in · 20 out/).waitFor();
    await picture(page, 'answer-facts');
    await page.reload();
  }
  await page.getByTitle('Assistant, model and approvals').click();
  assert.equal(await dialog.getByLabel('Temperature').inputValue(), '0.3');
  await dialog.getByLabel('Temperature').fill('');
  await save.click();
  await dialog.waitFor({ state: 'detached' });
  await say(page, 'Again');
  const again = await model.next();
  assert.equal(again.request.temperature, undefined);
  const { items } = await program.api('GET', 'conversations');
  assert.deepEqual(items[0].modelOptions, { effort: 'low', maxOutputTokens: 321 });
  again.say('Again.');
  again.finish();
  await said(page, 'Again.').waitFor();
});

scene(program, 'an assistant says how its model answers', {}, async (visitor) => {
  const page = await visitor.open('assistants');
  await page.getByRole('button', { name: 'New', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Calm');
  await dialog.getByLabel('Temperature').fill('0');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'Calm' }).waitFor();
  const { items } = await program.api('GET', 'assistants');
  assert.deepEqual(items[0].modelOptions, { temperature: 0 });
  const chat = await program.api('POST', 'conversations', { assistantId: items[0].id });
  await page.evaluate((to) => {
    location.hash = `#/chat/${to}`;
  }, chat.id);
  await say(page, 'Hello');
  const turn = await model.next();
  assert.equal(turn.request.temperature, 0);
  turn.say('Hello.');
  turn.finish();
  await said(page, 'Hello.').waitFor();
});

scene(program, 'a server and a tool are switched off in one chat, and in no other', {}, async (visitor) => {
  const page = await visitor.open();
  await page.getByRole('button', { name: /^Tools/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Tools in this chat' });
  await dialog.getByRole('switch', { name: 'Use two in this chat' }).uncheck();
  await dialog.getByText('Tools', { exact: true }).first().click();
  await dialog.getByLabel('echo').uncheck();
  await picture(page, 'chat-tools');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Tools: 2 off').waitFor();
  await say(page, 'What can you do here?');
  const here = await model.next();
  assert.ok(offered(here, 'one', 'add'));
  assert.ok(!offered(here, 'one', 'echo'));
  assert.ok(!offered(here, 'two', 'add'));
  // Nor does it run if the model calls it all the same.
  here.call(['mcp__one__echo', { text: 'anyway' }]);
  const after = await model.next();
  assert.doesNotMatch(JSON.stringify(after.request.messages.at(-1)), /"anyway"/);
  after.say('Little.');
  after.finish();
  await said(page, 'Little.').waitFor();
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByText('Tools: 2 off').waitFor({ state: 'detached' });
  await say(page, 'And here?');
  const there = await model.next();
  assert.ok(offered(there, 'one', 'echo') && offered(there, 'two', 'add'));
  there.say('Much.');
  there.finish();
  await said(page, 'Much.').waitFor();
});
