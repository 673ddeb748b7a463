// A conversation: files, a prompt and a resource of a server, another answer and the way back, a search.

import assert from 'node:assert/strict';
import { picture, said } from '../browser/browser.mjs';
import { ask } from './page.mjs';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

export async function converse(step, { user, visitor }) {
  let page;
  let composer;
  const ready = () => page.getByRole('button', { name: 'Send', exact: true }).last().waitFor();

  await step('page: a picture goes with a message, and is there when the chat is opened again', async () => {
    await user.begin();
    page = await visitor.open();
    composer = page.getByRole('textbox', { name: 'Message' });
    await page.locator('input[type=file]').setInputFiles([{ name: 'cat.png', mimeType: 'image/png', buffer: PNG }]);
    await ask(page, 'What is in this picture?');
    await said(page, 'You said: What is in this picture?').waitFor();
    await page.reload();
    const shown = page.getByRole('img', { name: 'cat.png' });
    await shown.waitFor();
    assert.equal(await shown.evaluate((image) => image.naturalWidth), 1);
    await picture(page, 'attached');
  });

  await step('page: a prompt of a server is found, filled in and sent', async () => {
    await ready();
    await composer.pressSequentially('/args');
    await page.getByRole('listbox', { name: 'Prompts, resources and skills' }).getByRole('option').first().waitFor();
    await composer.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('city').fill('Bern');
    await dialog.getByRole('button', { name: 'Insert' }).click();
    await dialog.waitFor({ state: 'detached' });
    await composer.press('Enter');
    await said(page, "You said: What's weather in Bern").waitFor();
  });

  await step('page: a resource of a server is found and goes with the message', async () => {
    await ready();
    await composer.pressSequentially('Read @startup');
    await page.getByRole('listbox', { name: 'Prompts, resources and skills' }).getByRole('option', { name: /startup/ }).first().waitFor();
    await composer.press('Tab');
    await page.getByText('startup.md', { exact: true }).waitFor();
    await composer.press('Enter');
    // The model was shown what is in it.
    await said(page, 'The Server Factory').waitFor();
    await picture(page, 'prompt-and-resource');
  });

  await step('page: an answer is made anew, a question edited, and both ways lead back', async () => {
    await page.getByRole('link', { name: 'New chat' }).click();
    await ask(page, 'One thing.');
    await said(page, 'You said: One thing.').waitFor();
    await ready();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('2 of 2').waitFor();
    await ready();
    await page.getByRole('button', { name: 'The version before' }).click();
    await page.getByText('1 of 2').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'Edit this message' }).fill('Another thing.');
    await page.locator('.edit-message').getByRole('button', { name: 'Send' }).click();
    await said(page, 'You said: Another thing.').waitFor();
    await ready();
    await page.getByRole('button', { name: 'The version before' }).click();
    await said(page, 'You said: One thing.').waitFor();
    await picture(page, 'branches');
  });

  await step('page: what was said is found, and opened where it was said', async () => {
    await page.getByRole('link', { name: 'All chats' }).click();
    await page.getByRole('searchbox').fill('weather Bern');
    await page.getByRole('main').locator('.hit-link').first().click();
    const found = page.locator('.found-message');
    await found.waitFor();
    assert.match(await found.textContent(), /weather in Bern/);
    await page.close();
    await user.stop();
    await user.nothingRuns();
  });
}
