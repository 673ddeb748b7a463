// Tools that are not listed: searched for without a question, then asked for as themselves.

import assert from 'node:assert/strict';
import { callOf, picture, said } from '../browser/browser.mjs';
import { approval, ask } from './page.mjs';
import { ASKS } from './script.mjs';
import { Terminal } from './terminal.mjs';

export async function callTools(step, { user, visitor }) {
  let terminal;
  await step('terminal: a search runs unasked, and the tool behind tool_call is asked for', async () => {
    terminal = await Terminal.open(user, 'chat');
    await terminal.prompt();
    terminal.enter(ASKS.sum);
    await terminal.see('tool_search');
    assert.ok(!terminal.fresh().includes('wants to run tool_'), 'a search asks for nothing');
    await terminal.see('everything wants to run get-sum');
    await terminal.see('"a": 19');
    await terminal.see('"b": 23');
    await terminal.see('Run it?');
    terminal.enter('y');
    await terminal.see('The tool says: The sum of 19 and 23 is 42.');
    await terminal.prompt();
  });

  await step('terminal: a denied tool does not run', async () => {
    terminal.enter(ASKS.write);
    await terminal.see('files wants to run write_file');
    await terminal.see('Run it?');
    terminal.enter('n Not today.');
    await terminal.see('The tool says: The user declined this call and says: Not today.');
    assert.equal(await user.document('letter.txt'), null);
    await terminal.prompt();
  });

  await step('terminal: edited arguments are the ones that are used', async () => {
    terminal.enter(ASKS.write);
    await terminal.see('files wants to run write_file');
    await terminal.see('Run it?');
    terminal.enter('e');
    await terminal.see('Arguments: ');
    await terminal.see('Dear Bob');
    // Back over `Bob"}`, the end of the arguments.
    terminal.enter(`${'\u007f'.repeat('Bob"}'.length)}Ada"}`);
    await terminal.see('The tool says:');
    await terminal.prompt();
    assert.equal(String(await user.document('letter.txt')), 'Dear Ada');
  });

  await step('terminal: a y typed before there is a question is not its answer', async () => {
    terminal.enter(ASKS.ahead);
    await terminal.see('everything wants to run trigger-long-running-operation');
    await terminal.see('Run it?');
    terminal.enter('y');
    // While this call runs, there is no question.
    await terminal.see(/\[=+ *\]/);
    terminal.enter('y');
    await terminal.see('files wants to run write_file');
    await terminal.see('Run it?');
    terminal.enter('n Too early.');
    await terminal.see('The user declined this call and says: Too early.');
    assert.equal(await user.document('novel.txt'), null);
    // It is the next message instead.
    await terminal.see('You said: y');
    await terminal.prompt();
    terminal.enter('/quit');
    assert.equal(await terminal.end(), 0);
    await user.nothingRuns();
  });

  let page;
  await step('page: a search runs unasked, and the tool behind tool_call is asked for', async () => {
    await user.begin();
    page = await visitor.open();
    await ask(page, ASKS.remoteSum);
    const asked = approval(page, 'remote', 'get-sum');
    await asked.getByText('"a": 20').waitFor();
    await asked.getByText('"b": 24').waitFor();
    await callOf(page, 'tool_search').getByText('done', { exact: true }).waitFor();
    await picture(page, 'deferred-tool');
    await asked.getByRole('button', { name: 'Approve', exact: true }).click();
    await said(page, 'The tool says: The sum of 20 and 24 is 44.').waitFor();
  });

  await step('page: a denied tool does not run', async () => {
    await ask(page, ASKS.diary);
    const asked = approval(page, 'files', 'write_file');
    await asked.getByRole('button', { name: 'Deny' }).click();
    await asked.getByLabel('Why not? The model will see this.').fill('Not here.');
    await asked.getByRole('button', { name: 'Deny', exact: true }).click();
    await said(page, 'The user declined this call and says: Not here.').last().waitFor();
    assert.equal(await user.document('diary.txt'), null);
  });

  await step('page: edited arguments are the ones that are used', async () => {
    await ask(page, ASKS.diary);
    const asked = approval(page, 'files', 'write_file');
    await asked.getByRole('button', { name: 'Edit' }).click();
    const arguments_ = asked.getByLabel('Arguments, as JSON');
    const edited = (await arguments_.inputValue()).replace('Dear diary', 'Dear page');
    await arguments_.fill(edited);
    await asked.getByRole('button', { name: 'Approve with these' }).click();
    await said(page, /The tool says:.*Successfully wrote/).waitFor();
    assert.equal(String(await user.document('diary.txt')), 'Dear page');
    await page.close();
  });
}
