// A result of a megabyte.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callOf, picture } from '../browser/browser.mjs';
import { approve, ask } from './page.mjs';
import { ASKS } from './script.mjs';
import { Terminal } from './terminal.mjs';

export async function saveResult(step, { user, visitor }) {
  const lines = Array.from({ length: 40_000 }, (_, at) => `line ${String(at).padStart(6, '0')} “ünïcode” ok`);
  const big = Buffer.from(`${lines.join('\n')}\n`);
  assert.ok(big.length > 1 << 20);
  await writeFile(join(user.documents, 'big.txt'), big);

  await step('page: a result of a megabyte is saved whole, byte for byte', async () => {
    const page = await visitor.open();
    await ask(page, ASKS.big);
    await approve(page, 'files', 'read_text_file');
    const call = callOf(page, 'read_text_file');
    await call.getByText('done', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await call.getByRole('button', { expanded: false }).first().click();
    const save = call.getByRole('button', { name: 'Save the whole result' });
    await save.waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), save.click()]);
    const bytes = await readFile(await saved.path());
    await picture(page, 'big-result');
    assert.ok(bytes.equals(big), `${bytes.length} bytes of another text`);
    await page.close();
  });

  await step('terminal: a result of a megabyte is saved whole, byte for byte', async () => {
    const terminal = await Terminal.open(user, 'chat');
    await terminal.prompt();
    terminal.enter(ASKS.big);
    await terminal.see('files wants to run read_text_file');
    await terminal.see('Run it?');
    terminal.enter('y');
    await terminal.see('saves the whole result');
    await terminal.prompt();
    const copy = join(user.documents, 'copy.txt');
    terminal.enter(`/save ${copy}`);
    await terminal.see('written to');
    await terminal.prompt();
    assert.ok((await readFile(copy)).equals(big), 'another text was saved');
    terminal.enter('/quit');
    assert.equal(await terminal.end(), 0);
  });
}
