// Every view, light and dark, on a desktop, a tablet and a phone: pictures, names for every control, and the way by keyboard.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { callOf, picture, quit, said, say, scene } from './browser.mjs';
import { Program } from './program.mjs';

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
const others = { elsewhere: { command: 'switchboard', args: ['demo-server'] }, broken: { args: [] } };
await writeFile(join(program.folder, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: others }));
after(async () => {
  await quit();
  await program.end();
});

const VIEWS = [
  ['chat', ''],
  ['servers', 'servers'],
  ['tools', 'tools'],
  ['assistants', 'assistants'],
  ['approvals', 'approvals'],
  ['gateway', 'gateway'],
  ['history', 'history'],
  ['settings', 'settings'],
];
const SCREENS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  tablet: { colorScheme: 'light', viewport: { width: 820, height: 1180 }, hasTouch: true },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
/** What can be used must have a name. */
const USABLE = new Set([
  'button',
  'link',
  'textbox',
  'searchbox',
  'checkbox',
  'switch',
  'combobox',
  'menuitem',
  'radio',
  'slider',
  'spinbutton',
  'listbox',
  'image',
  'dialog',
  'progressbar',
]);

async function nameless(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  return nodes
    .filter((node) => !node.ignored && USABLE.has(node.role?.value) && !node.name?.value)
    .map((node) => node.role.value);
}

async function settled(page) {
  await page.waitForFunction(() => !/Asking|Loading…/.test(document.getElementById('main').textContent));
}

scene(
  program,
  'on a phone the menu opens, takes the focus and gives it back',
  SCREENS.phone,
  async (visitor) => {
    const page = await visitor.open();
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('link', { name: 'Servers' }).waitFor();
    await picture(page, 'phone-menu');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Open menu' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Open menu');
  },
);

scene(
  program,
  'by keyboard alone: skip link, composer, approval, and no trap on the way',
  {},
  async (visitor) => {
    const page = await visitor.open();
    await page.keyboard.type('Write a note: by hand');
    await page.keyboard.press('Enter');
    await callOf(page, 'write_note').getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await page.evaluate(() => document.activeElement.blur());
    const reached = [];
    for (let step = 0; step < 80; step += 1) {
      await page.keyboard.press('Tab');
      const name = await page.evaluate(() => {
        const { activeElement: at } = document;
        return at === document.body
          ? 'end'
          : (at.getAttribute('aria-label') ?? at.textContent.trim().slice(0, 40));
      });
      reached.push(name);
      if (name === 'Approve') break;
    }
    assert.ok(
      reached.includes('Skip to content') && reached.includes('New chat') && reached.includes('Settings'),
      reached.join(', '),
    );
    assert.equal(reached.at(-1), 'Approve', reached.join(', '));
    const after = [];
    for (let step = 0; step < 10; step += 1) {
      await page.keyboard.press('Tab');
      after.push(
        await page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim()),
      );
      if (after.at(-1) === 'composer') break;
    }
    assert.equal(after.at(-1), 'composer', after.join(', '));
    await page.getByRole('button', { name: 'Show' }).focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), 'Approve');
    await page.keyboard.press('Enter');
    await said(page, 'write_note answered: Noted: by hand').waitFor();
    const spoken = page.locator('#spoken');
    const hasText = /wants to run write_note.*write_note answered/s;
    await spoken.filter({ hasText }).waitFor({ state: 'attached' });
  },
);

scene(
  program,
  'chats are found, renamed, forked, exported and deleted',
  { acceptDownloads: true },
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'What can you do?');
    await said(page, '[demo model, not an AI]').first().waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await page.getByRole('button', { name: 'More about this chat' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByLabel('Title').fill('Abilities');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'Abilities', level: 1 }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'More about this chat' }).click();
    await page.getByRole('menuitem', { name: 'Export as Markdown' }).click();
    assert.equal((await saved).suggestedFilename(), 'Abilities.md');
    const address = page.url();
    await page.getByRole('button', { name: 'Fork' }).click();
    await page.waitForURL((url) => url.href !== address);
    await said(page, '[demo model, not an AI]').first().waitFor();
    await page.getByRole('link', { name: 'All chats' }).click();
    const other = page.getByRole('main').getByRole('link', { name: 'Write a note: by hand' });
    await other.waitFor();
    await page.getByRole('searchbox', { name: 'Find a chat or a message' }).fill('ABILI');
    await other.waitFor({ state: 'detached' });
    const found = page.getByRole('main').getByRole('link', { name: 'Abilities' });
    await found.nth(1).waitFor();
    assert.equal(await found.count(), 2);
    await page.getByRole('main').getByRole('button', { name: 'More about Abilities' }).first().click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await found.nth(1).waitFor({ state: 'detached' });
    assert.equal(await found.count(), 1);
  },
);

for (const [screen, options] of Object.entries(SCREENS)) {
  scene(
    program,
    `every view works and every control has a name: ${screen}`,
    { ...options, expect: [/status of 502/] },
    async (visitor) => {
      const page = await visitor.open();
      for (const [name, path] of VIEWS) {
        await page.evaluate((to) => {
          location.hash = `#/${to}`;
        }, path);
        await settled(page);
        assert.deepEqual(await nameless(page), [], name);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name} is ${wide} px too wide`);
        assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, name);
        await picture(page, `${screen}-${name}`);
      }
    },
  );
}

scene(program, 'every tab and dialog works and every control has a name', {}, async (visitor) => {
  const page = await visitor.open('servers');
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'notebook' }) });
  const closed = () => page.getByRole('dialog').waitFor({ state: 'detached' });
  const check = async (name) => {
    assert.deepEqual(await nameless(page), [], name);
    await picture(page, name);
  };

  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await check('dialog-add');
  await page.getByRole('button', { name: 'fill in the fields' }).click();
  await page.getByRole('dialog', { name: 'New server' }).waitFor();
  await check('dialog-new-server');
  await page.keyboard.press('Escape');
  await closed();
  await card.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Add variable' }).click();
  await page.getByLabel('Name of the variable').fill('COLOUR');
  await page.getByLabel('Value of the variable').fill('env:HOME');
  await check('dialog-edit-server');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await closed();
  await page.getByRole('button', { name: 'More about servers' }).click();
  await page.getByRole('menuitem', { name: 'Import from other programs' }).click();
  await page.getByLabel('Import elsewhere').waitFor();
  await page
    .getByText(/"broken"|broken/)
    .first()
    .waitFor();
  await check('dialog-import');
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
  await page.getByText('Imported 1.').waitFor();
  await closed();
  await page.getByRole('heading', { name: 'elsewhere' }).waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'More about servers' }).click();
  await page.getByRole('menuitem', { name: 'Export as JSON' }).click();
  assert.equal((await saved).suggestedFilename(), 'mcp.json');

  await card.getByRole('button', { name: 'More about notebook' }).click();
  await page.getByRole('menuitem', { name: 'Resources' }).click();
  await page
    .getByRole('button', { name: /^Read / })
    .first()
    .click();
  await page.getByText('Nothing noted yet.').waitFor();
  await check('server-resources');
  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByLabel('name').fill('Ada');
  await page.getByLabel('language').fill('French');
  await page.getByRole('button', { name: 'Show greet' }).click();
  await page.getByText('Greet Ada in French, in one sentence.').waitFor();
  await check('server-prompts');
  await page.getByRole('link', { name: 'Logs' }).click();
  await page.getByText('What the server wrote to standard error.').waitFor();
  await check('server-logs');
});
