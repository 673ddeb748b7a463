// Versions: another answer, an edited question, and the way between them.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { picture, quit, said, say, scene } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
});

scene(program, 'an answer is tried again, a question edited, and both ways lead back', {}, async (visitor) => {
  const page = await visitor.open();
  const ready = () => page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  await say(page, 'Add 2 and 40.');
  await said(page, 'add answered: 42').waitFor();
  await ready();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('2 of 2').waitFor();
  await said(page, 'add answered: 42').waitFor();
  await ready();
  await picture(page, 'versions-answer');
  await page.getByRole('button', { name: 'The version before' }).click();
  await page.getByText('1 of 2').waitFor();

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const input = page.getByRole('textbox', { name: 'Edit this message' });
  assert.equal(await input.inputValue(), 'Add 2 and 40.');
  await picture(page, 'versions-edit');
  await input.press('Escape');
  assert.equal(await input.count(), 0);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await input.fill('Add 3 and 40.');
  await page.locator('.edit-message').getByRole('button', { name: 'Send' }).click();
  await said(page, 'add answered: 43').waitFor();
  assert.equal(await said(page, 'add answered: 42').count(), 0);
  await page.getByText('2 of 2').waitFor();
  await ready();
  // It holds when the page is loaded anew, and so does the way back.
  await page.reload();
  await said(page, 'add answered: 43').waitFor();
  await page.getByRole('button', { name: 'The version before' }).click();
  await said(page, 'add answered: 42').waitFor();
  assert.equal(await said(page, 'Add 3 and 40.').count(), 0);
});
