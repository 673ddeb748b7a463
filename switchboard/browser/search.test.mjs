// Chats in the lists: found by what was said, pinned, renamed, deleted.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { picture, quit, said, say, scene, until } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
});

scene(program, 'a message is found by two Chinese signs, and opened where it was said', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, '明天北京的天气怎么样？');
  await said(page, '[demo model, not an AI]').first().waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.getByRole('link', { name: 'New chat' }).click();
  await say(page, 'What can you do?');
  await said(page, '[demo model, not an AI]').first().waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();

  await page.getByRole('link', { name: 'All chats' }).click();
  await page.getByRole('searchbox').fill('天气');
  const hit = page.getByRole('main').getByRole('link', { name: /明天北京的天气怎么样.*You/ });
  await hit.first().waitFor();
  await picture(page, 'search');
  await hit.first().click();
  const found = page.locator('.found-message');
  await found.waitFor();
  assert.match(await found.textContent(), /天气/);
});

scene(program, 'the title of the tab counts the questions that wait', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Write a note: count me');
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  await until(async () => /^\(1\) /.test(await page.title()), 'a count in the title');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await until(async () => !/^\(/.test(await page.title()), 'no count in the title');
});

scene(program, 'a chat is pinned, renamed and deleted from the list', {}, async (visitor) => {
  const page = await visitor.open();
  const side = page.getByRole('navigation', { name: 'Chats and settings' });
  const open = async (name) => {
    await side.getByRole('link', { name }).hover();
    await side.getByRole('button', { name: `More about ${name}` }).click();
  };
  await open('明天北京的天气怎么样？');
  await picture(page, 'chat-list-menu');
  await page.getByRole('menuitem', { name: 'Pin', exact: true }).click();
  await side.getByRole('heading', { name: 'Pinned' }).waitFor();
  await open('明天北京的天气怎么样？');
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByLabel('Title').fill('Weather');
  await page.getByRole('button', { name: 'Rename' }).click();
  await side.getByRole('link', { name: 'Weather' }).waitFor();
  await page.reload();
  await side.getByRole('heading', { name: 'Pinned' }).waitFor();
  await open('Weather');
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await side.getByRole('link', { name: 'Weather' }).waitFor({ state: 'detached' });
  await side.getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' });
});
