// Diagrams in an answer: drawn in a frame that has no origin, by a library that is loaded when needed.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { picture, quit, said, say, scene } from './browser.mjs';
import { Model } from './model.mjs';
import { Program } from './program.mjs';

const model = await Model.start();
const program = await Program.start({ env: model.env });
after(async () => {
  await quit();
  await program.end();
  await model.end();
});

const FLOW = 'graph TD\n  ask[A question] --> tool{A tool?}\n  tool -->|yes| call[Call it]\n  tool -->|no| say[Answer]';
const EXPECT = { expect: [/status of 502/] };

async function answer(page, words) {
  await say(page, 'Draw it');
  const turn = await model.next();
  turn.say(words);
  turn.finish();
  await page.getByRole('button', { name: 'Send', exact: true }).last().waitFor();
}

const fenced = (code) => `\`\`\`mermaid\n${code}\n\`\`\``;
/** The picture as it was drawn: its size in pixels. */
const size = (image) => image.evaluate((it) => [it.naturalWidth, it.naturalHeight]);

scene(program, 'a diagram is drawn once its code has ended, and its code can be seen', EXPECT, async (visitor) => {
  const page = await visitor.open();
  const loaded = [];
  page.on('request', (request) => /mermaid/.test(request.url()) && loaded.push(request.url()));
  await say(page, 'Draw it');
  const turn = await model.next();
  turn.say(`Here:\n\n\`\`\`mermaid\n${FLOW}`);
  await said(page, 'graph TD').waitFor();
  assert.deepEqual(loaded, [], 'no library before there is a diagram');
  turn.say('\n```\n\nThat is all.');
  turn.finish();
  const block = page.locator('.code-block');
  const image = block.getByRole('img', { name: 'Diagram' });
  await image.waitFor();
  const [width, height] = await size(image);
  assert.ok(width > 100 && height > 200, `${width} × ${height}`);
  await picture(page, 'diagram');
  await block.locator('pre').waitFor({ state: 'hidden' });
  await block.getByRole('button', { name: 'Show code' }).click();
  await block.locator('pre').getByText('tool{A tool?}').waitFor();
  await block.getByRole('button', { name: 'Hide code' }).click();
  await block.locator('pre').waitFor({ state: 'hidden' });
  // In the dark it is drawn anew.
  const before = await image.getAttribute('src');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction((src) => document.querySelector('.picture img').src !== src, before);
  await picture(page, 'diagram-dark');
  assert.equal(loaded.length, 1, 'loaded once');
});

scene(program, 'every kind of diagram is drawn, and what is none stays code with the reason', EXPECT, async (visitor) => {
  const page = await visitor.open();
  const kinds = [
    'sequenceDiagram\n  Ann->>Bob: Hello\n  Bob-->>Ann: Hi',
    'classDiagram\n  Animal <|-- Duck\n  Animal : +int age',
    'stateDiagram-v2\n  [*] --> Still\n  Still --> [*]',
    'erDiagram\n  CUSTOMER ||--o{ ORDER : places',
    'gantt\n  title Plan\n  section One\n  Task :a1, 2026-01-01, 30d',
    'pie title Pets\n  "Dogs" : 386\n  "Cats" : 85',
    'mindmap\n  root((tools))\n    read\n    write',
    'timeline\n  title Past\n  2025 : one\n  2026 : two',
    'gitGraph\n  commit\n  branch b\n  commit',
    'graph TD\n  中文[中文<br/>两行] --> b',
  ];
  await answer(page, [...kinds, 'graph TD\n  a --'].map(fenced).join('\n\n'));
  const images = page.getByRole('img', { name: 'Diagram' });
  await images.nth(kinds.length - 1).waitFor();
  const failed = page.getByText('mermaid: not drawn', { exact: true });
  await failed.waitFor();
  assert.match(await failed.getAttribute('title'), /Parse error/);
  await page.locator('.code-block').last().locator('pre').getByText('a --').waitFor();
  for (const image of await images.all()) {
    const [width, height] = await size(image);
    assert.ok(width > 50 && height > 50, `${width} × ${height}`);
  }
  await images.first().scrollIntoViewIfNeeded();
  await picture(page, 'diagrams');
});

const BLOCKED = { expect: [...EXPECT.expect, /Content Security Policy/, /^request: https:\/\/evil\.example/] };

scene(program, 'a hostile diagram reaches nothing', BLOCKED, async (visitor) => {
  const page = await visitor.open();
  // The policy blocks what it asks for.
  const elsewhere = [];
  page.on('requestfinished', (request) => /evil/.test(request.url()) && elsewhere.push(request.url()));
  const hostile = [
    '%%{init: {"securityLevel": "loose", "themeCSS": "* { background: url(https://evil.example/css) }"}}%%',
    'graph TD',
    '  a["<img src=x onerror=parent.hacked=1>"] --> b["<script>parent.hacked=1</script>"]',
    '  click a "javascript:parent.hacked=1"',
    '  click b call hacked()',
  ].join('\n');
  await answer(page, fenced(hostile));
  await page.getByRole('img', { name: 'Diagram' }).or(page.getByText('mermaid: not drawn')).first().waitFor();
  assert.equal(await page.evaluate(() => 'hacked' in globalThis), false);
  assert.deepEqual(elsewhere, []);
  const frame = page.frames().find((it) => it.url().endsWith('diagram-frame.html'));
  const tried = await frame.evaluate(() => {
    const attempt = (what) => {
      try {
        return String(what());
      } catch (error) {
        return error.name;
      }
    };
    return [origin, attempt(() => parent.document.title), attempt(() => localStorage.length), attempt(() => document.cookie)];
  });
  assert.deepEqual(tried, ['null', 'SecurityError', 'SecurityError', 'SecurityError']);
  const fetched = await frame.evaluate(() => fetch('/healthz').then(() => 'fetched', (error) => error.name));
  assert.equal(fetched, 'TypeError');
});
