// A new user: no key, no configuration, an empty home.

import assert from 'node:assert/strict';
import { picture, said } from '../browser/browser.mjs';
import { ask } from './page.mjs';
import { Terminal } from './terminal.mjs';

export async function firstStart(step, { user, visitor }) {
  await step('first start in a terminal: the demo model answers with a tool, and says what it is', async () => {
    const terminal = await Terminal.open(user);
    await terminal.see('No model key found');
    await terminal.prompt();
    terminal.enter('What time is it?');
    await terminal.see('get_time');
    await terminal.see('demo model, not an AI');
    await terminal.see('get_time answered');
    await terminal.prompt();
    terminal.enter('/quit');
    assert.equal(await terminal.end(), 0);
    await user.nothingRuns();
  });

  await step('first start of the page: the link that serve prints opens it, and a chat works', async () => {
    await user.begin();
    const page = await visitor.open();
    await page.getByRole('heading', { name: 'Three steps, and you are ready' }).waitFor();
    await ask(page, 'What time was it yesterday?');
    await said(page, /get_time answered/).waitFor();
    await picture(page, 'first-start');
    await page.close();
    await user.stop();
    await user.nothingRuns();
  });
}
