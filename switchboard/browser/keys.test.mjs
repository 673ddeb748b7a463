// The keyboard: the command palette, the list of keys, and a question answered by a letter.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { callOf, picture, quit, said, say, scene } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
});

scene(program, 'the palette finds views, chats, servers and actions by their letters', {}, async (visitor) => {
  await program.api('POST', 'conversations', { title: 'Zebra crossing' });
  const page = await visitor.open();
  const palette = page.getByRole('dialog', { name: 'Find anything' });
  await page.keyboard.press('Control+k');
  await palette.getByRole('option', { name: /^demo server/ }).waitFor();
  await picture(page, 'palette');
  await page.keyboard.type('zebra');
  await palette.getByRole('option', { name: 'Zebra crossing chat' }).waitFor();
  assert.equal(await palette.getByRole('option').count(), 1);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Zebra crossing', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('appr');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Find anything' }).click();
  await palette.getByRole('combobox').fill('no such thing');
  await palette.getByText('Nothing has these words.').waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
});

scene(program, 'a question mark lists the keys, but not while one types', {}, async (visitor) => {
  const page = await visitor.open();
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.fill('');
  await composer.press('?');
  assert.equal(await composer.inputValue(), '?');
  await composer.fill('');
  await composer.evaluate((it) => it.blur());
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await picture(page, 'keys');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'composer');
});

scene(
  program,
  'a question says what the tool does and may do, and a letter answers it once it has the focus',
  {},
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Write a note: by letter');
    const call = callOf(page, 'write_note');
    await call.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await call.locator('.approval-about').waitFor();
    await call.locator('.approval .badge').first().waitFor();
    await picture(page, 'question');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('a');
    assert.ok(await call.getByRole('button', { name: 'Approve', exact: true }).isVisible(), 'not without focus');
    await page.keyboard.press('Control+.');
    await page.keyboard.press('d');
    const reason = call.getByLabel('Why not? The model will see this.');
    await reason.press('a');
    assert.equal(await reason.inputValue(), 'a', 'a letter that is typed is no answer');
    await page.keyboard.press('Escape');
    await page.keyboard.press('a');
    await said(page, 'write_note answered: Noted: by letter').waitFor();
  },
);
