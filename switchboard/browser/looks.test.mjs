// How the page looks: every view at three widths in both themes, as pictures to look at. No view is wider than its
// window, and none is dark in the light.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { callOf, picture, quit, said, say, scene } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
await program.api('POST', 'mcp-servers', {
  paste: JSON.stringify({
    mcpServers: {
      notebook: { command: 'switchboard', args: ['demo-server', '--stdio'] },
      tracker: { url: 'http://127.0.0.1:1/mcp' },
    },
  }),
});
const { items } = await program.api('GET', 'mcp-servers');
const notebook = items.find(({ name }) => name === 'notebook').id;
after(async () => {
  await quit();
  await program.end();
});

const WIDTHS = { phone: [360, 740], tablet: [820, 1100], desk: [1440, 900] };
const VIEWS = {
  start: '',
  servers: 'servers',
  server: `servers/${notebook}`,
  tools: 'tools',
  assistants: 'assistants',
  approvals: 'approvals',
  gateway: 'gateway',
  history: 'history',
  settings: 'settings',
};

for (const colorScheme of ['light', 'dark'])
  for (const [screen, [width, height]] of Object.entries(WIDTHS))
    scene(
      program,
      `every view fits its window: ${screen}, ${colorScheme}`,
      { colorScheme, viewport: { width, height }, expect: [/status of (502|404)/] },
      async (visitor) => {
        const page = await visitor.open();
        const look = async (name) => {
          await page.waitForFunction(() => document.getAnimations().every((it) => it.playState !== 'running' || it.effect.getTiming().iterations === Infinity));
          await picture(page, `look-${name}-${screen}-${colorScheme}`);
          const [wide, paper] = await page.evaluate(() => [
            document.documentElement.scrollWidth,
            getComputedStyle(document.documentElement).backgroundColor,
          ]);
          assert.ok(wide <= width, `${name} is ${wide} wide in a window of ${width}`);
          const [red] = /\d+/.exec(paper);
          assert.equal(Number(red) < 128, colorScheme === 'dark', `${name}: ${paper}`);
        };
        for (const [name, view] of Object.entries(VIEWS)) {
          await page.evaluate((to) => {
            location.hash = `#/${to}`;
          }, view);
          await page.waitForFunction(() => !/Asking|Loading…/.test(document.getElementById('main').textContent));
          await look(name);
        }
        await page.goto(`${program.url}/#/`);
        await say(page, 'Write a note: how it looks');
        const call = callOf(page, 'write_note');
        await call.getByRole('button', { name: 'Approve', exact: true }).waitFor();
        await look('question');
        await call.getByRole('button', { name: 'Approve', exact: true }).click();
        await said(page, 'write_note answered').waitFor();
        await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
        await look('answer');
      },
    );
