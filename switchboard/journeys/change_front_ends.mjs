// One conversation, begun in one front end and continued in the other.

import assert from 'node:assert/strict';
import { picture, said } from '../browser/browser.mjs';
import { approve, ask } from './page.mjs';
import { ASKS } from './script.mjs';
import { Terminal } from './terminal.mjs';

export async function changeFrontEnds(step, { user, visitor }) {
  await step('page → terminal → page: it is the same conversation', async () => {
    await user.begin();
    const page = await visitor.open();
    await ask(page, 'Begun in the page.');
    await said(page, 'You said: Begun in the page.').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    const before = await user.processes();
    const terminal = await Terminal.open(user, 'chat', '--resume', 'last');
    await terminal.see('Going on with: Begun in the page.');
    await terminal.prompt();
    terminal.enter('Continued in the terminal.');
    await terminal.see('You said: Continued in the terminal.');
    await terminal.prompt();
    terminal.enter(ASKS.sum);
    await terminal.see('Run it?');
    // A question that waits goes along: the window is closed without an answer.
    const mine = (await user.processes()).filter(({ pid }) => !before.some((it) => it.pid === pid));
    await terminal.close();
    await user.gone(mine);
    await page.reload();
    await said(page, 'You said: Begun in the page.').waitFor();
    await said(page, 'You said: Continued in the terminal.').waitFor();
    await approve(page, 'everything', 'get-sum');
    await said(page, 'The tool says: The sum of 19 and 23 is 42.').waitFor();
    await picture(page, 'from-terminal');
    await page.close();
  });

  await step('terminal → page: a chat of the terminal is in the list of the page, and goes on there', async () => {
    const terminal = await Terminal.open(user, 'chat');
    await terminal.prompt();
    terminal.enter('Begun in the terminal.');
    await terminal.see('You said: Begun in the terminal.');
    await terminal.prompt();
    terminal.enter('/quit');
    assert.equal(await terminal.end(), 0);
    const page = await visitor.open();
    await page.getByRole('link', { name: 'Begun in the terminal.' }).click();
    await said(page, 'You said: Begun in the terminal.').waitFor();
    await ask(page, 'Continued in the page.');
    await said(page, 'You said: Continued in the page.').waitFor();
    await page.close();
    await user.stop();
    await user.nothingRuns();
  });
}
