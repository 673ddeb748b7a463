// Prompts, resources and skills where one writes: found by their letters, their arguments completed by the
// server, a prompt's words inserted, a resource or a skill attached.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after } from 'node:test';
import { picture, quit, said, scene, until } from './browser.mjs';
import { Model } from './model.mjs';
import { Program } from './program.mjs';

const model = await Model.start();
const program = await Program.start({ env: model.env });
const script = fileURLToPath(new URL('server.mjs', import.meta.url));
await program.api('POST', 'mcp-servers', { name: 'asking', command: process.execPath, args: [script] });
await program.api('POST', 'mcp-servers', { name: 'helper', command: 'switchboard', args: ['demo-server', '--stdio'] });
after(async () => {
  await quit();
  await program.end();
  await model.end();
});

const proposals = (field) => field.evaluate((it) => [...it.list.options].map(({ value }) => value));

scene(program, 'a slash lists prompts; their arguments are completed, and their words are inserted', {}, async (visitor) => {
  const page = await visitor.open();
  const composer = page.getByRole('textbox', { name: 'Message' });
  const picker = page.getByRole('listbox', { name: 'Prompts, resources and skills' });
  await composer.pressSequentially('/gre');
  await picker.getByRole('option', { name: /greet/ }).waitFor();
  assert.equal(await picker.getByRole('option').count(), 1);
  await picture(page, 'picker-prompts');
  await composer.press('Escape');
  await picker.waitFor({ state: 'hidden' });
  await composer.fill('');
  await composer.pressSequentially('/gr');
  await picker.getByRole('option').waitFor();
  await composer.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Greet' });
  await dialog.getByLabel('name').fill('Ada');
  const language = dialog.getByLabel('language');
  await language.pressSequentially('Fr');
  await until(async () => String(await proposals(language)) === 'French', 'the proposal of the server');
  await language.fill('French');
  await dialog.getByRole('button', { name: 'Insert' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await composer.inputValue(), 'Greet Ada in French, in one sentence.');
  await composer.press('Enter');
  const turn = await model.next();
  assert.match(JSON.stringify(turn.request.messages.at(-1)), /Greet Ada in French/);
  turn.say('Bonjour, Ada.');
  turn.finish();
  await said(page, 'Bonjour, Ada.').waitFor();
});

scene(program, 'an @ lists resources and templates; what is chosen goes with the message', {}, async (visitor) => {
  const page = await visitor.open();
  const composer = page.getByRole('textbox', { name: 'Message' });
  const picker = page.getByRole('listbox', { name: 'Prompts, resources and skills' });
  await composer.pressSequentially('Compare @');
  await picker.getByRole('option', { name: /Pages/ }).waitFor();
  await picture(page, 'picker-resources');
  await composer.pressSequentially('notes');
  await until(async () => (await picker.getByRole('option').count()) === 1, 'one resource');
  await composer.press('Tab');
  await page.getByText('notes.txt', { exact: true }).waitFor();
  assert.equal(await composer.inputValue(), 'Compare ');
  await composer.pressSequentially('with @pages');
  await picker.getByRole('option', { name: /Pages/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Pages' });
  const name = dialog.getByLabel('page');
  await name.pressSequentially('n');
  // One that is not what it seems is not proposed.
  await until(async () => String(await proposals(name)) === 'north', 'the proposal of the server');
  await name.fill('north');
  await dialog.getByRole('button', { name: 'Attach' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('north', { exact: true }).waitFor();
  await composer.press('Enter');
  const turn = await model.next();
  const sent = JSON.stringify(turn.request.messages.at(-1));
  assert.match(sent, /What is at asking:\/\/\/notes\.txt\?/);
  assert.match(sent, /What is at asking:\/\/\/north\?/);
  turn.say('Alike.');
  turn.finish();
  await said(page, 'Alike.').waitFor();
});

scene(program, 'a skill is found by @ and goes with the message; one with signs of an attack is asked about', {}, async (visitor) => {
  const page = await visitor.open();
  const composer = page.getByRole('textbox', { name: 'Message' });
  const picker = page.getByRole('listbox', { name: 'Prompts, resources and skills' });
  await composer.pressSequentially('Welcome them @greet');
  await picker.getByRole('option', { name: /Skill: Says how to greet/ }).waitFor();
  await picture(page, 'picker-skills');
  await composer.press('Tab');
  await page.getByText('greet.SKILL.md', { exact: true }).waitFor();
  await composer.pressSequentially('@obey');
  await picker.getByRole('option', { name: /Says how to obey/ }).click();
  const dialog = page.getByRole('dialog', { name: 'obey' });
  await dialog.getByText(/signs of an attack/).waitFor();
  await picture(page, 'picker-skill-suspicious');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await composer.press('Enter');
  const turn = await model.next();
  const sent = JSON.stringify(turn.request.messages.at(-1));
  assert.match(sent, /Say hello to everyone/);
  assert.doesNotMatch(sent, /Ignore all previous/);
  turn.say('Hello, everyone.');
  turn.finish();
  await said(page, 'Hello, everyone.').waitFor();
});

scene(program, 'no picker opens within words, and Enter still sends', {}, async (visitor) => {
  const page = await visitor.open();
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.pressSequentially('either/or, mail me@example.com');
  assert.equal(await page.getByRole('listbox', { name: 'Prompts, resources and skills' }).count(), 0);
  await composer.press('Enter');
  const turn = await model.next();
  turn.say('Sent.');
  turn.finish();
  await said(page, 'Sent.').waitFor();
});
