// Formulas in an answer: MathML under the page's own policy, by a library that is loaded when needed.

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

scene(program, 'formulas are drawn as MathML, money and what is no formula stay text', { expect: [/status of 502/] }, async (visitor) => {
  const page = await visitor.open();
  const loaded = [];
  page.on('request', (request) => /temml/.test(request.url()) && loaded.push(request.url()));
  await say(page, 'Plain?');
  let turn = await model.next();
  turn.say('It costs $5 or $10.');
  turn.finish();
  await said(page, 'It costs $5 or $10.').waitFor();
  assert.deepEqual(loaded, [], 'no library without a formula');
  await say(page, 'Prove it');
  turn = await model.next();
  turn.say('For $a^2 + b^2 = c^2$ and \\(\\sqrt{2}\\):\n\n$$\n\\int_0^1 x^2\\,dx = ');
  const blocks = page.locator('.prose math');
  await blocks.nth(1).waitFor();
  turn.say('\\frac{1}{3}\n$$\n\nNot this: $\\nonsense{$ and \\(\\href{javascript:alert(1)}{x}\\).');
  turn.finish();
  await page.locator('.math-block math mfrac').waitFor();
  await said(page, 'Not this').waitFor();
  assert.equal(await page.locator('.prose math msqrt').count(), 1);
  assert.equal(await page.locator('.prose [href^="javascript"]').count(), 0);
  assert.equal(loaded.length, 1);
  await picture(page, 'math');
});
