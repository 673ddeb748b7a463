// What a server asks and gives: its words are Markdown, its patterns never run in the page, its whole
// result can be saved as what it is, and a truncated list is marked as such.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { after } from 'node:test';
import { callOf, picture, quit, said, say, scene } from './browser.mjs';
import { Model } from './model.mjs';
import { Program } from './program.mjs';

const model = await Model.start();
const program = await Program.start({ env: model.env });
const script = fileURLToPath(new URL('server.mjs', import.meta.url));
await program.api('PUT', 'settings', { approve: 'auto' });
for (const [name, more] of [
  ['asking', '0'],
  ['endless', '9995'],
]) {
  const server = { name, command: process.execPath, args: [script, more], isActive: name === 'asking' };
  await program.api('POST', 'mcp-servers', server);
}
after(async () => {
  await quit();
  await program.end();
  await model.end();
});

scene(
  program,
  'a question in Markdown is drawn safely, and a pattern is checked by the program, at its field',
  { expect: [/status of 422/] },
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Ask for the code');
    (await model.next()).call(['ask_code', {}]);
    const call = callOf(page, 'ask_code');
    const field = call.getByLabel('Code');
    await field.waitFor();
    const asked = call.locator('.asked');
    await asked.locator('strong', { hasText: 'code' }).waitFor();
    const link = asked.getByRole('link', { name: 'the list' });
    assert.equal(await link.getAttribute('href'), 'https://example.com/codes');
    assert.equal(await link.getAttribute('title'), 'https://example.com/codes', 'where it leads is shown');
    assert.equal(await asked.locator('b').count(), 0);
    await asked.getByText('<b>no HTML</b>').waitFor();

    await call.getByRole('button', { name: 'Send' }).click();
    await call.getByText('Code is required.').waitFor();
    // A browser that ran the pattern on this would not come back.
    await field.fill(`${'a'.repeat(40)}!`);
    await call.getByRole('button', { name: 'Send' }).click();
    await call.locator('.field .problem', { hasText: 'Code: ' }).waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    await picture(page, 'question-refused');
    await field.fill('aaa');
    await call.getByRole('button', { name: 'Send' }).click();
    const turn = await model.next();
    turn.say('Thanks.');
    turn.finish();
    await said(page, 'Thanks.').waitFor();
    await call.getByText('The code is aaa.').first().waitFor();
  },
);

scene(program, 'what a name and an argument hide is seen before the call is approved', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Pay the bill');
  const asked = await model.next();
  asked.call([asked.tools().find((name) => name.includes('pay')), { to: 'bob\u202ecilam\u200b' }]);
  const panel = page.locator('.approval');
  await panel.waitFor();
  assert.ok((await panel.locator('.approval-title').textContent()).includes('pay\\u000aroot\\u202e\\u200b'));
  await panel.getByText('"bob\\u202ecilam\\u200b"').waitFor();
  await picture(page, 'approval-of-a-hostile-name');
  await page.locator('.call-head').click();
  const shown = await page.evaluate(() => document.body.textContent);
  assert.doesNotMatch(shown, /[\u200b\u202e]/, 'nowhere on the page');
  await panel.getByRole('button', { name: 'Deny' }).click();
  await panel.getByRole('button', { name: 'Deny', exact: true }).click();
  const turn = await model.next();
  turn.say('Not paid.');
  turn.finish();
  await said(page, 'Not paid.').waitFor();
});

scene(program, 'a result of nothing but text is saved as text, any other as JSON', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Read all of it');
  (await model.next()).call(['read_all', {}], ['read_parts', {}], ['read_mixed', {}]);
  const turn = await model.next();
  turn.say('Read.');
  turn.finish();
  await said(page, 'Read.').waitFor();
  for (const [tool, label, file] of [
    ['read_all', 'Save the whole result', 'read_all.txt'],
    ['read_parts', 'Save the whole result', 'read_parts.txt'],
    ['read_mixed', 'Save the whole result', 'read_mixed.json'],
  ]) {
    const call = callOf(page, tool);
    await call.getByRole('button', { expanded: false }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      call.getByRole('button', { name: label }).click(),
    ]);
    assert.equal(download.suggestedFilename(), file);
    const saved = await readFile(await download.path(), 'utf8');
    const text = file.endsWith('.txt') ? saved : JSON.parse(saved).content[0].text;
    assert.equal(text, `${'All of it. '.repeat(10_000)}${tool === 'read_parts' ? '\nand more' : ''}`);
  }
});

scene(program, 'a tool tried with an empty field that is needed does not run', {}, async (visitor) => {
  const page = await visitor.open('tools');
  await page.getByRole('button', { name: 'shout', exact: true }).click();
  const tool = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'shout', exact: true }) });
  await tool.getByText('Try it').click();
  await tool.getByRole('button', { name: 'Run' }).click();
  await tool.getByText('Text is required.').waitFor();
  // What was asked is connected, and the badge shows it.
  await page.locator('.group-of-tools', { hasText: 'asking' }).getByText('connected', { exact: true }).waitFor();
});

scene(program, 'a template of resources is listed, and read with its variables filled in', {}, async (visitor) => {
  const { items } = await program.api('GET', 'mcp-servers');
  const { id } = items.find(({ name }) => name === 'asking');
  const page = await visitor.open(`servers/${id}/resources`);
  await page.getByRole('heading', { name: 'Templates' }).waitFor();
  const template = page.getByRole('listitem').filter({ hasText: 'asking:///{' });
  await template.getByRole('combobox').fill('a b');
  await template.getByRole('button', { name: /^Read/ }).click();
  await template.getByText('What is at asking:///a%20b?').waitFor();
  await picture(page, 'resource-template');
});

scene(program, 'more tools than a list may have are counted', {}, async (visitor) => {
  const { items } = await program.api('GET', 'mcp-servers');
  const { id } = items.find(({ name }) => name === 'endless');
  await program.api('PUT', `mcp-servers/${id}`, { isActive: true });
  const list = await program.api('GET', `mcp-servers/${id}/tools`);
  assert.equal(list.items.length, 2048);
  assert.match(list.incomplete, /more than 2048 items/);
  const page = await visitor.open(`servers/${id}`);
  await page.getByText(/^Not all of this server’s tools are here: the list has more than 2048 items/).waitFor();
  await program.api('PUT', `mcp-servers/${id}`, { isActive: false });
});

scene(program, 'an assistant chooses that its model calls tools in its text', {}, async (visitor) => {
  const page = await visitor.open('assistants');
  await page.getByRole('button', { name: 'New', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'New assistant' });
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText('Name is required.').waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill('Simple');
  await dialog.getByLabel('Calls tools').selectOption('prompt');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(/tools by prompt/).waitFor();
  const [assistant] = (await program.api('GET', 'assistants')).items;
  assert.deepEqual([assistant.mcpMode, assistant.toolSelection], ['prompt', 'auto']);
  const chat = await program.api('POST', 'conversations', { assistantId: assistant.id });
  await page.evaluate((to) => {
    location.hash = `#/chat/${to}`;
  }, chat.id);
  await say(page, 'Hello');
  const turn = await model.next();
  assert.deepEqual(turn.tools(), [], 'no function calling');
  assert.match(JSON.stringify(turn.request.messages), /asking__shout/, 'the instructions tell of the tools');
  turn.say('Hello.');
  turn.finish();
  await said(page, 'Hello.').waitFor();
});
