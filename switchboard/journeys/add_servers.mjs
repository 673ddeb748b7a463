// Servers are added, by the terminal and by the page, before and after a model is chosen.

import assert from 'node:assert/strict';
import { callOf, picture, said } from '../browser/browser.mjs';
import { command } from './outside.mjs';
import { ask } from './page.mjs';
import { Terminal } from './terminal.mjs';

/** More than this, and tools are searched for instead of listed. */
const LISTED = 30;

export async function addServers(step, { user, visitor, remote, provider }) {
  await step('two servers are added in the terminal', async () => {
    const everything = await user.run('servers', 'add', 'everything', '--', ...command('everything', 'stdio'));
    assert.match(everything, /Added everything/);
    const files = await user.run('servers', 'add', 'files', '--', ...command('filesystem', user.documents));
    assert.match(files, /Added files/);
    await user.nothingRuns();
  });

  await step('two more are pasted into the page, and all four work', async () => {
    await user.begin();
    const page = await visitor.open('settings/mcp');
    const [program, ...args] = command('memory');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const pasted = { mcpServers: { memory: { command: program, args }, remote: { url: remote.url } } };
    await page.getByLabel('Paste a URL, a command line or JSON').fill(JSON.stringify(pasted));
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    for (const name of ['everything', 'files', 'memory', 'remote']) {
      const card = page
        .getByRole('listitem')
        .filter({ has: page.getByRole('heading', { name, exact: true }) });
      await card.getByRole('button', { name: 'Test' }).click();
      await card.getByText('It works.').waitFor();
    }
    await picture(page, 'servers');
    await page.close();
  });

  await step('without a model of their own, the user sees the demo model search, and is asked', async () => {
    const page = await visitor.open();
    await ask(page, 'What is the sum of 2 and 40?');
    const asked = page.getByRole('group', { name: /wants to run get-sum$/ });
    await asked.waitFor();
    await callOf(page, 'tool_search').getByText('done', { exact: true }).waitFor();
    await asked.getByRole('button', { name: 'Approve', exact: true }).click();
    await said(page, 'get-sum answered: The sum of 2 and 40 is 42.').waitFor();
    await page.close();
    await user.stop();
    await user.nothingRuns();
  });

  await step('a model of a provider is chosen; there are more tools than are listed', async () => {
    await user.run('model', 'set', 'local/journey', '--base-url', provider.url);
    const terminal = await Terminal.open(user, 'chat');
    await terminal.see('journey');
    const [, servers, tools] = await terminal.see(/(\d+) servers, (\d+) tools/);
    assert.equal(servers, '4');
    assert.ok(Number(tools) > LISTED, `${tools} tools`);
    await terminal.prompt();
    terminal.enter('/quit');
    assert.equal(await terminal.end(), 0);
    await user.nothingRuns();
  });
}
