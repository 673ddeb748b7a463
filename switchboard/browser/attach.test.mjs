// Files in a message: chosen, pasted and dropped; refused by name; shown with what was said.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { picture, quit, said, scene } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
});

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const cat = { name: 'cat.png', mimeType: 'image/png', buffer: PNG };
const notes = { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Seven lives') };

/** Gives a file to the page as a paste or a drop would. */
function give(page, kind, { name, mimeType, buffer }) {
  return page.evaluate(
    ([event, title, type, bytes]) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], title, { type }));
      const place = event === 'paste' ? document.querySelector('#composer') : document.querySelector('.chat');
      const props = { bubbles: true, cancelable: true };
      place.dispatchEvent(
        event === 'paste'
          ? new ClipboardEvent('paste', { ...props, clipboardData: data })
          : new DragEvent('drop', { ...props, dataTransfer: data }),
      );
    },
    [kind, name, mimeType, [...buffer]],
  );
}

scene(program, 'a picture and a text go with a message and are shown with it', {}, async (visitor) => {
  const page = await visitor.open();
  const files = page.getByRole('list', { name: 'Attached files' }).first();
  await page.getByRole('button', { name: 'Attach files' }).waitFor();
  await page.locator('input[type=file]').setInputFiles([cat]);
  await give(page, 'paste', notes);
  await give(page, 'drop', { ...notes, name: 'more.txt' });
  assert.equal(await files.getByRole('listitem').count(), 3);
  await page.getByRole('button', { name: 'Remove more.txt' }).click();
  assert.equal(await files.getByRole('listitem').count(), 2);
  await picture(page, 'attach-composer');
  await page.getByRole('textbox', { name: 'Message' }).fill('Hm.');
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  await said(page, 'Files that I was shown: 1.').waitFor();
  const shown = page.getByRole('img', { name: 'cat.png' });
  await shown.waitFor();
  assert.equal(await shown.evaluate((image) => image.naturalWidth), 1);
  await picture(page, 'attach-sent');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'notes.md' }).click();
  assert.equal((await saved).suggestedFilename(), 'notes.md');

  // It is there when the page is loaded anew, and the composer is empty.
  await page.reload();
  await shown.waitFor();
  assert.equal(await page.getByRole('button', { name: 'Remove cat.png' }).count(), 0);
});

scene(
  program,
  'a file that cannot be sent is named with the reason, and nothing is lost',
  { expect: [/status of 422/] },
  async (visitor) => {
    const page = await visitor.open();
    await page
      .locator('input[type=file]')
      .setInputFiles([cat, { name: 'tool.exe', mimeType: 'text/plain', buffer: Buffer.from([77, 90, 0, 0]) }]);
    await page.getByRole('textbox', { name: 'Message' }).fill('Look.');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await page.getByRole('alert').getByText(/tool\.exe has an unsupported type/).waitFor();
    await picture(page, 'attach-refused');
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'Look.');
    await page.getByRole('button', { name: 'Remove tool.exe' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await said(page, 'Files that I was shown: 1.').waitFor();
  },
);
