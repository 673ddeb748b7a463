// The first run: a typed key, a pasted server, a first answer.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { picture, quit, said, say, scene, until } from './browser.mjs';
import { Program } from './program.mjs';

const KEY = 'sk-typed-4711-typed';
const program = await Program.start();
const model = spawn(process.env.SWITCHBOARD, ['--json', 'demo-model', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(createInterface({ input: model.stdout }), 'line');
const address = /http:\/\/[\d.]+:\d+/.exec(line)[0];
after(async () => {
  model.kill();
  await quit();
  await program.end();
});

scene(program, 'the demo server stands among servers and tools like any other', {}, async (visitor) => {
  const page = await visitor.open('servers');
  const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'demo', exact: true }) });
  await card.getByText(/built in/).waitFor();
  await picture(page, 'servers-demo');
  await page.getByRole('navigation').getByRole('link', { name: 'Tools' }).click();
  await page.getByText('get_time').first().waitFor();
});

scene(program, 'three steps: a key and an address, a server, a first answer', {}, async (visitor) => {
  const page = await visitor.open();
  await page.getByRole('heading', { name: 'Three steps, and you are ready' }).waitFor();
  await picture(page, 'start');

  await page.getByRole('button', { name: 'Choose a model' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose a model' });
  await dialog.getByLabel('Provider').selectOption('');
  await dialog.getByLabel('Base URL').fill(`${address}/v1`);
  await dialog.getByLabel('Key').fill(KEY);
  await dialog.getByRole('button', { name: 'Test' }).click();
  await dialog.getByText('It works: one model.').waitFor();
  await picture(page, 'start-model');
  await dialog.getByRole('button', { name: 'Use this model' }).click();
  await page.getByText(/is now in use/).waitFor();
  await page.getByText(/^In use: /).waitFor();

  await page.getByRole('button', { name: 'Add a server' }).click();
  const add = page.getByRole('dialog', { name: 'Add a server' });
  await add.getByRole('button', { name: 'filesystem' }).waitFor();
  await add.getByLabel('Paste a URL, a command line or JSON').fill('switchboard demo-server');
  await picture(page, 'start-server');
  await add.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('Added switchboard.').waitFor();

  await say(page, 'What time was it yesterday?');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await said(page, /get_time answered/).waitFor();

  const settings = JSON.stringify(await program.api('GET', 'settings'));
  assert.match(settings, /private-file:model/);
  assert.ok(!settings.includes(KEY), 'the key is not shown');
  const kept = await readFile(join(program.folder, 'test.db'));
  assert.ok(!kept.includes(KEY), 'the key is not in the database');
  assert.equal((await readdir(join(program.folder, 'keys'))).filter((it) => it.endsWith('.secret')).length, 1);
});

scene(
  program,
  'what does not answer is not chosen, and the reason stands at its field',
  { expect: [/status of 502/] },
  async (visitor) => {
    const page = await visitor.open('settings');
    await page.getByRole('button', { name: 'Choose a model' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a model' });
    await dialog.getByLabel('Provider').selectOption('');
    await dialog.getByLabel('Base URL').fill('http://127.0.0.1:9/v1');
    await dialog.getByLabel('Model', { exact: true }).fill('any');
    await dialog.getByRole('button', { name: 'Use this model' }).click();
    await dialog.getByText(/cannot be asked for its models/).waitFor();
    await picture(page, 'start-refused');
  },
);

scene(
  program,
  'what was typed for one provider is not sent to another, and what is missing is said at its field',
  {},
  async (visitor) => {
    const page = await visitor.open('settings');
    await page.getByRole('button', { name: 'Choose a model' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a model' });
    await dialog.getByLabel('Provider').selectOption('openai');
    await dialog.getByLabel('Key').fill('sk-for-one-provider');
    await dialog.getByLabel('Provider').selectOption('openrouter');
    assert.equal(await dialog.getByLabel('Key').inputValue(), '');
    await dialog.getByLabel('Provider').selectOption('');
    await dialog.getByLabel('Base URL').fill(address);
    await dialog.getByLabel('Provider').selectOption('ollama');
    assert.equal(await dialog.getByLabel('Base URL').inputValue(), '');
    await dialog.getByLabel('Provider').selectOption('');
    await dialog.getByRole('button', { name: 'Test' }).click();
    await dialog.locator('.field .problem', { hasText: /\S/ }).waitFor();
    assert.ok(await dialog.getByLabel('Base URL').evaluate((it) => it === document.activeElement));
    assert.equal(await page.getByText(/went wrong/).count(), 0);
  },
);

scene(program, 'suggestions come from the tools and the prompts there are', {}, async (visitor) => {
  const page = await visitor.open();
  await until(async () => (await page.locator('.try').count()) > 0, 'a suggestion');
  await page.getByText('a tool of switchboard').first().waitFor();
  await picture(page, 'start-suggestions');
  await page.getByRole('button', { name: /Greets a person in a language.*a prompt of switchboard/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Greet' });
  await dialog.getByRole('button', { name: 'Insert' }).click();
  await dialog.getByText(/is required\.$/).first().waitFor();
  for (const name of ['name', 'language']) await dialog.getByLabel(name).fill('French');
  await dialog.getByRole('button', { name: 'Insert' }).click();
  const composer = page.getByRole('textbox', { name: 'Message' });
  await until(async () => /French/.test(await composer.inputValue()), 'the words of the prompt');
});
