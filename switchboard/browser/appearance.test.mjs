// The page in another language and another theme, and its notifications and data.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { picture, quit, said, say, scene, until } from './browser.mjs';
import { Program } from './program.mjs';

const program = await Program.start();
after(async () => {
  await quit();
  await program.end();
});

const VIEWS = ['', 'servers', 'tools', 'assistants', 'approvals', 'gateway', 'history', 'settings', 'nowhere'];
/** Words that stay as they are in every language: names, units, what a server says. */
const NAMES =
  /Switchboard|switchboard|demo|MCP|HTTP|URL|JSON|token|OpenAI|Anthropic|Gemini|English|Ctrl/;

scene(program, 'in Chinese no label is left in English', { locale: 'zh-CN' }, async (visitor) => {
  const page = await visitor.open();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh');
  for (const view of VIEWS) {
    await page.evaluate((to) => {
      location.hash = `#/${to}`;
    }, view);
    await page.waitForFunction(() => !/正在(加载|询问)/.test(document.getElementById('main').textContent));
    const labels = await page.evaluate(() => {
      const named = [...document.querySelectorAll('[aria-label], [placeholder], [title]')].flatMap((it) =>
        ['aria-label', 'placeholder', 'title'].map((name) => it.getAttribute(name)),
      );
      const shown = [...document.querySelectorAll('h1, h2, h3, button, label, th, .lead, .help, .places a')];
      return [...named, ...shown.map((it) => it.textContent)].filter(Boolean);
    });
    const english = labels.filter((label) => /[a-z]{4}/i.test(label) && !/[\u4e00-\u9fff]/.test(label));
    assert.deepEqual(
      english.filter((label) => !NAMES.test(label) && !/^[\w./:-]+$/.test(label)),
      [],
      view,
    );
    await picture(page, `chinese-${view || 'chat'}`);
  }
});

scene(program, 'a chat in Chinese: question, answer, ending', { locale: 'zh-CN' }, async (visitor) => {
  const page = await visitor.open();
  await page.getByRole('textbox', { name: '消息' }).fill('Write a note: 牛奶');
  await page.keyboard.press('Enter');
  await page.getByText('有 1 个问题等待你的答复。').waitFor();
  await picture(page, 'chinese-question');
  await page.getByRole('button', { name: '批准', exact: true }).click();
  await page.getByText('write_note answered: Noted: 牛奶').first().waitFor();
  await page.getByText(/^此对话：输入/).waitFor();
});

scene(program, 'the language of the settings wins over the browser’s', { locale: 'zh-CN' }, async (visitor) => {
  const page = await visitor.open('settings');
  await page.getByLabel('语言').selectOption('en');
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  await page.getByLabel('Language').selectOption('');
  await page.getByRole('heading', { name: '设置', level: 1 }).waitFor();
});

scene(program, 'the theme of the settings wins over the system’s, in every tab', {}, async (visitor) => {
  const page = await visitor.open('settings');
  const other = await visitor.open();
  const paper = (tab) => tab.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await paper(page);
  await page.getByLabel('Theme').selectOption('dark');
  const dark = await paper(page);
  assert.notEqual(dark, light);
  await until(async () => (await paper(other)) === dark, 'the theme of the other tab');
  await page.reload();
  await page.getByLabel('Theme').waitFor();
  assert.equal(await paper(page), dark);
  await page.getByLabel('Theme').selectOption('system');
  assert.equal(await paper(page), light);
});

/** For the page, it is out of view. */
async function hide(page) {
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { get: () => true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
}

scene(
  program,
  'hidden pages notify of a question, once it was allowed, and not while another tab is in view',
  { permissions: ['notifications'] },
  async (visitor) => {
    const page = await visitor.open();
    await page.evaluate(() => {
      globalThis.shownNotices = [];
      const keep = (title, { body }) => globalThis.shownNotices.push([title, body]);
      const Fake = function Notification(title, options) {
        keep(title, options);
        this.addEventListener = () => {};
      };
      Fake.permission = 'granted';
      Fake.requestPermission = async () => 'granted';
      globalThis.Notification = Fake;
    });
    await say(page, 'Write a note: one');
    await page.getByText('Show a desktop notification').waitFor();
    await page.getByRole('button', { name: 'Yes', exact: true }).click();
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    assert.deepEqual(await page.evaluate(() => globalThis.shownNotices), [], 'not while it is looked at');
    // The stream stays open: only what the page asks for is answered differently.
    await hide(page);
    const other = await visitor.open();
    await say(page, 'Write a note: two');
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    assert.deepEqual(await page.evaluate(() => globalThis.shownNotices), [], 'nor while another tab is');
    await hide(other);
    await say(page, 'Write a note: three');
    await until(async () => (await page.evaluate(() => globalThis.shownNotices.length)) > 0, 'a notification');
    assert.deepEqual((await page.evaluate(() => globalThis.shownNotices))[0], [
      'A question is waiting',
      'Write a note: one',
    ]);
    await page.getByText('Show a desktop notification').waitFor({ state: 'detached' });
  },
);

scene(program, 'all chats are saved in one file, and deleted at once', { acceptDownloads: true }, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'What can you do?');
  await said(page, '[demo model, not an AI]').first().waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export all chats' }).click();
  const saved = await saving;
  assert.equal(saved.suggestedFilename(), 'switchboard-chats.json');
  const { conversations } = JSON.parse(await readFile(await saved.path(), 'utf8'));
  const { items } = await program.api('GET', 'conversations');
  assert.equal(conversations.length, items.length);
  assert.match(JSON.stringify(conversations), /What can you do\?/);
  await page.getByRole('button', { name: 'Delete all chats' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete all chats' }).click();
  await page.getByText(/chats? (was|were) deleted/).waitFor();
  assert.deepEqual((await program.api('GET', 'conversations')).items, []);
});
