// What axe finds in every view and dialog: nothing, in both themes and in forced colours.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { callOf, picture, quit, said, say, scene } from './browser.mjs';
import { Program } from './program.mjs';

const AXE = readFileSync(join(process.env.PLAYWRIGHT, 'axe-core/axe.min.js'), 'utf8');
const program = await Program.start();
await program.api('POST', 'mcp-servers', {
  paste: JSON.stringify({
    mcpServers: {
      notebook: { command: 'switchboard', args: ['demo-server', '--stdio'] },
      tracker: { url: 'http://127.0.0.1:1/mcp' },
      archive: { command: 'npx', args: ['-y', 'some-archive-server', '.'], disabled: true },
    },
  }),
});
await program.api('POST', 'assistants', { name: 'Scribe', system: 'Short answers.', toolSelection: 'auto' });
await mkdir(join(program.folder, '.cursor'));
const elsewhere = { elsewhere: { command: 'switchboard', args: ['demo-server'] } };
await writeFile(join(program.folder, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: elsewhere }));
const { items: servers } = await program.api('GET', 'mcp-servers');
const notebook = servers.find(({ name }) => name === 'notebook').id;
await program.api('PATCH', `mcp-servers/${notebook}/tools/echo`, { enabled: false });
after(async () => {
  await quit();
  await program.end();
});

const VIEWS = [
  '',
  'servers',
  `servers/${notebook}`,
  `servers/${notebook}/resources`,
  `servers/${notebook}/prompts`,
  `servers/${notebook}/logs`,
  'tools',
  'assistants',
  'approvals',
  'gateway',
  'history',
  'settings',
  'nowhere',
];
const SCREENS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  forced: { colorScheme: 'dark', forcedColors: 'active' },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};

async function check(page, name) {
  // What fades in has its colours only then.
  await page.waitForFunction(() => document.getAnimations().every((it) => it.playState !== 'running' || it.effect.getTiming().iterations === Infinity));
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document);
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`));
  });
  assert.deepEqual(found, [], name);
}

for (const [screen, options] of Object.entries(SCREENS)) {
  scene(program, `axe finds nothing: ${screen}`, { ...options, expect: [/status of (502|404)/] }, async (visitor) => {
    const page = await visitor.open();
    for (const view of VIEWS) {
      await page.evaluate((to) => {
        location.hash = `#/${to}`;
      }, view);
      await page.waitForFunction(() => !/Asking|Loading…/.test(document.getElementById('main').textContent));
      await check(page, `${screen}: ${view || 'chat'}`);
    }
    await page.evaluate(() => {
      location.hash = '#/servers';
    });
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await check(page, `${screen}: the dialog of a new server`);
    await page.getByRole('button', { name: 'fill in the fields' }).click();
    await check(page, `${screen}: the fields of a server`);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More about servers' }).click();
    await page.getByRole('menuitem', { name: 'Import from other programs' }).click();
    await page.getByLabel('Import elsewhere').waitFor();
    await check(page, `${screen}: the import list`);
    await page.keyboard.press('Escape');
    await page.evaluate(() => {
      location.hash = '#/assistants';
    });
    await page.getByRole('button', { name: 'Edit Scribe' }).click();
    await check(page, `${screen}: the fields of an assistant`);
    await page.keyboard.press('Escape');
    await page.evaluate(() => {
      location.hash = '#/settings';
    });
    await page.getByRole('button', { name: 'Choose a model' }).click();
    await page.getByRole('dialog', { name: 'Choose a model' }).waitFor();
    await check(page, `${screen}: the choice of a model`);
    await page.keyboard.press('Escape');
    await page.evaluate(() => {
      location.hash = '#/';
    });
    await page.getByTitle('Assistant, model and approvals').click();
    await check(page, `${screen}: the options of a chat`);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Tools', exact: true }).click();
    const off = page.getByRole('dialog', { name: 'Tools in this chat' });
    await off.locator('summary').first().click();
    await off.getByLabel('write_note').waitFor();
    await check(page, `${screen}: the tools of a chat`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await check(page, `${screen}: the palette`);
    await page.keyboard.press('Escape');
    await page.goto(`${program.url}/#/`);
    await say(page, 'Write a note: for axe');
    await callOf(page, 'write_note').getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await picture(page, `axe-${screen}`);
    await check(page, `${screen}: a question`);
    await callOf(page, 'write_note').getByRole('button', { name: 'Approve', exact: true }).click();
    await said(page, 'write_note answered').waitFor();
    await callOf(page, 'write_note').getByRole('button', { name: /write_note/ }).click();
    await check(page, `${screen}: an answer`);
  });
}
