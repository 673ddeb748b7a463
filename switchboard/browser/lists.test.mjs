// Long lists: tools of all servers found and switched together, servers found, a server tested while
// it is edited.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { picture, quit, scene, until } from './browser.mjs';
import { Program } from './program.mjs';

const SERVER = fileURLToPath(new URL('./server.mjs', import.meta.url));
const program = await Program.start();
const servers = { notebook: { command: 'switchboard', args: ['demo-server'] } };
for (const name of ['north', 'south', 'east', 'west', 'up']) servers[name] = { command: 'none', disabled: true };
servers.many = { command: process.execPath, args: [SERVER, '500'] };
await program.api('POST', 'mcp-servers', { paste: JSON.stringify({ mcpServers: servers }) });
after(async () => {
  await quit();
  await program.end();
});

scene(program, 'one search finds tools of all servers, and switches those it found', {}, async (visitor) => {
  const page = await visitor.open('tools');
  const shown = () => page.locator('.line.tool:visible').count();
  await page.getByText('506 of 506 tools on').waitFor();
  await page.getByText('14 of 14 tools on').waitFor();
  const search = page.getByRole('searchbox', { name: 'Find a tool of any server' });
  await search.fill('more_49');
  await page.getByText('11 tools found.').waitFor();
  assert.equal(await shown(), 11);
  await picture(page, 'tools-found');
  const changes = [];
  page.on('request', (request) => request.method() === 'PATCH' && changes.push(request.url()));
  await page.getByRole('button', { name: 'Turn off all that are shown' }).click();
  await page.getByText('495 of 506 tools on').waitFor();
  assert.equal(changes.length, 1, 'one change of the server');
  await page.reload();
  await page.getByText('495 of 506 tools on').waitFor();
  await page.getByText('14 of 14 tools on').waitFor();
  await search.fill('note');
  await page.getByRole('heading', { name: 'many' }).waitFor({ state: 'hidden' });
  assert.ok((await shown()) > 0);
  await search.fill('');
  await page.getByRole('button', { name: 'Turn on all that are shown' }).click();
  await page.getByText('506 of 506 tools on').waitFor();
  assert.equal(await shown(), 520);
});

scene(program, 'servers stand close together and are found by their words', {}, async (visitor) => {
  const page = await visitor.open('servers');
  const search = page.getByRole('searchbox', { name: 'Find a server' });
  await search.waitFor();
  await picture(page, 'servers-dense');
  await search.fill('off nor');
  await until(async () => (await page.locator('.card:visible').count()) === 1, 'one server');
  await page.getByRole('heading', { name: 'north' }).waitFor();
});

scene(program, 'a server is saved and tested in its dialog, until it works', {}, async (visitor) => {
  const page = await visitor.open('servers');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('button', { name: 'fill in the fields' }).click();
  const dialog = page.getByRole('dialog', { name: 'New server' });
  await dialog.getByLabel('Name', { exact: true }).fill('tried');
  await dialog.getByLabel('Program').fill('no-such-program-anywhere');
  const test = dialog.getByRole('button', { name: 'Save and test' });
  await test.click();
  await dialog.getByText('The test failed.').waitFor();
  await dialog.getByLabel('Program').fill('switchboard');
  await dialog.getByLabel('Arguments, one per line').fill('demo-server');
  await test.click();
  await dialog.getByText('It works.').waitFor();
  await dialog.getByText(/14 tools/).waitFor();
  await picture(page, 'server-tested');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const { items } = await program.api('GET', 'mcp-servers');
  assert.equal(items.filter(({ name }) => name === 'tried').length, 1, 'it was added once');
});
