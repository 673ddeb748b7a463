// `kill -9` in the middle of a call.

import assert from 'node:assert/strict';
import { callOf, picture, said } from '../browser/browser.mjs';
import { approve, ask } from './page.mjs';
import { ASKS } from './script.mjs';
import { Terminal } from './terminal.mjs';

const TOOL = 'trigger-long-running-operation';
const INTERRUPTED = 'The call was interrupted';

export async function surviveKills(step, { user, visitor }) {
  await step('page: kill -9 in the middle of a call; it is interrupted, never repeated, nothing is lost', async () => {
    const page = await visitor.open();
    await ask(page, ASKS.small);
    await said(page, `You said: ${ASKS.small}`).waitFor();
    await ask(page, ASKS.long);
    await approve(page, 'everything', TOOL);
    await callOf(page, TOOL).getByRole('progressbar', { name: 'Progress' }).waitFor();
    const before = await user.processes();
    await user.kill();
    await page.getByText('Connection lost. Trying again…').waitFor();
    await user.begin();
    await page.getByText('Connection lost. Trying again…').waitFor({ state: 'hidden' });
    await user.gone(before);
    await callOf(page, TOOL).getByText(INTERRUPTED).waitFor();
    await page.reload();
    await callOf(page, TOOL).getByText(INTERRUPTED).waitFor();
    await said(page, `You said: ${ASKS.small}`).waitFor();
    // With a database that machines share, it goes on by itself.
    if (!user.isShared) await page.getByRole('button', { name: 'Continue' }).click();
    await said(page, `The tool says: ${INTERRUPTED}`).waitFor();
    await picture(page, 'interrupted');
    assert.equal(await callOf(page, TOOL).count(), 1, 'the call was repeated');
    assert.deepEqual(await calls(user, page), ['error']);
    await page.close();
    await user.stop();
    await user.nothingRuns();
  });

  await step('terminal: kill -9 in the middle of a call; it is interrupted, never repeated, nothing is lost', async () => {
    const first = await Terminal.open(user, 'chat');
    await first.prompt();
    first.enter(ASKS.long);
    await first.see('Run it?');
    first.enter('y');
    await first.see(/\[=+ *\]/);
    const before = await user.processes();
    await first.kill();
    const second = await resume(user);
    await second.see('/continue');
    await second.prompt();
    await user.gone(before);
    second.enter('/continue');
    await second.see(`The tool says: ${INTERRUPTED}`);
    assert.ok(!second.text().includes(`wants to run ${TOOL}`), 'the call was repeated');
    await second.prompt();
    second.enter('/quit');
    assert.equal(await second.end(), 0);
    await user.nothingRuns();
  });
}

/** How the calls of the tool in the chat of this page ended, as the API tells. */
async function calls(user, page) {
  const [, id] = /#\/chat\/(\w+)/.exec(page.url());
  const { items } = await user.api('GET', `conversations/${id}/messages?limit=50`);
  const made = items.flatMap(({ toolCalls }) => toolCalls ?? []);
  return made.filter(({ toolName }) => toolName === TOOL).map(({ status }) => status);
}

/** Resumes the chat. With a database that machines share, the killed one's lease lasts a while. */
async function resume(user) {
  for (;;) {
    const terminal = await Terminal.open(user, 'session', 'resume');
    const [found] = await terminal.see(/Going on with: [^\n]*|under way in another process/);
    if (found.startsWith('Going on')) {
      assert.ok(found.startsWith(`Going on with: ${ASKS.long}`), found);
      return terminal;
    }
    assert.ok(user.isShared, terminal.text());
    await terminal.end();
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
