// kill -9 while an approval waits: nothing is lost.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { callOf, quit, said, say, scene } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
});

scene(
  program,
  'kill -9 during a pending approval, restart, approve, finish',
  { expect: [/ERR_|network/i] },
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Write a note: survive');
    const approve = callOf(page, 'write_note').getByRole('button', { name: 'Approve', exact: true });
    await approve.waitFor();
    await program.kill();
    await page.getByText('Connection lost. Trying again…').waitFor();
    await program.begin();
    // The page finds its way back by itself, and so does one that is opened anew.
    await page.getByText('Connection lost. Trying again…').waitFor({ state: 'hidden' });
    await page.reload();
    await approve.waitFor();
    assert.equal(await approve.count(), 1);
    await approve.click();
    await said(page, 'write_note answered: Noted: survive').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await say(page, 'What time was it yesterday?');
    await said(page, /get_time answered/).waitFor();
  },
);
