// Code in an answer: coloured, and copied as it is.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { picture, quit, said, say, scene, until } from './browser.mjs';
import { Model } from './model.mjs';
import { Program } from './program.mjs';

const model = await Model.start();
const program = await Program.start({ env: model.env });
after(async () => {
  await quit();
  await program.end();
  await model.end();
});

const CODE = 'fn main() {\n    let name = "world"; // who\n    println!("hello {name} {}", 42);\n}';

scene(
  program,
  'code is coloured while it grows, and copied without a change',
  { permissions: ['clipboard-read', 'clipboard-write'], expect: [/status of 502/] },
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Show me code');
    const turn = await model.next();
    turn.say(`Here it is:\n\n\`\`\`rust\n${CODE.slice(0, 30)}`);
    const block = page.locator('.code-block');
    await block.waitFor();
    turn.say(`${CODE.slice(30)}\n\`\`\`\n\nDone.`);
    turn.finish();
    await said(page, 'Done.').waitFor();
    const words = (kind) =>
      page.evaluate((name) => [...(CSS.highlights.get(`code-${name}`) ?? [])].map(String), kind);
    await until(async () => (await words('comment')).includes('// who'), 'coloured code');
    assert.deepEqual(await words('keyword'), ['fn', 'let']);
    assert.equal(await block.locator('code').evaluate((code) => code.childNodes.length), 1, 'the text is one node');
    await picture(page, 'code');
    await block.getByRole('button', { name: 'Copy' }).click();
    await until(async () => (await page.evaluate(() => navigator.clipboard.readText())).trim() === CODE, 'the copy');
  },
);
