// What is written while an answer is made: it waits above the composer, and is sent once the answer has
// ended by itself. What is not sent outlives its tab.

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

const answer = (turn, words) => {
  turn.say(words);
  turn.finish();
};

scene(program, 'messages written during an answer are sent after it, in order, wherever one looks', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'One');
  const one = await model.next();
  one.say('First, ');
  await said(page, 'First,').waitFor();
  await say(page, 'Two');
  await page.getByRole('textbox', { name: 'Message' }).fill('Three');
  await page.getByRole('button', { name: 'Send after this answer' }).click();
  await say(page, 'Never');
  const queue = page.getByRole('list', { name: 'Waiting for the answer to finish' });
  assert.deepEqual(await queue.getByRole('listitem').allTextContents(), ['Two', 'Three', 'Never']);
  await picture(page, 'queue');
  await queue.getByRole('listitem').filter({ hasText: 'Never' }).getByRole('button', { name: 'Remove this message' }).click();
  await queue.getByRole('listitem').filter({ hasText: 'Three' }).getByRole('button', { name: 'Edit this message' }).click();
  const composer = page.getByRole('textbox', { name: 'Message' });
  assert.equal(await composer.inputValue(), 'Three');
  await composer.fill('Three, changed');
  await composer.press('Enter');
  answer(one, 'done.');
  const two = await model.next();
  assert.match(JSON.stringify(two.request.messages.at(-1)), /Two/);
  await page.getByRole('link', { name: 'Settings' }).click();
  answer(two, 'Second.');
  const three = await model.next();
  assert.match(JSON.stringify(three.request.messages.at(-1)), /Three, changed/);
  answer(three, 'Third.');
  await page.goBack();
  await said(page, 'Third.').waitFor();
  await queue.waitFor({ state: 'hidden' });
});

scene(program, 'after a stop or a reload nothing is sent unasked, and nothing is lost', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Wait');
  const turn = await model.next();
  turn.say('I am ');
  await said(page, 'I am').waitFor();
  await say(page, 'And then?');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText(/were not sent/).waitFor();
  await page.reload();
  await page.getByText(/were not sent/).waitFor();
  assert.equal(model.asked.length, 0);
  await page.getByRole('button', { name: 'Send now' }).click();
  const next = await model.next();
  assert.match(JSON.stringify(next.request.messages.at(-1)), /And then\?/);
  answer(next, 'Then this.');
  await said(page, 'Then this.').waitFor();
});

scene(program, 'a draft outlives its tab, and goes once it is sent', {}, async (visitor) => {
  const page = await visitor.open();
  const written = page.getByRole('textbox', { name: 'Message' });
  await written.fill('half a thought');
  await page.close();
  const again = await visitor.open();
  const composer = again.getByRole('textbox', { name: 'Message' });
  await until(async () => (await composer.inputValue()) === 'half a thought', 'the draft');
  await composer.press('Enter');
  answer(await model.next(), 'Whole now.');
  await said(again, 'Whole now.').waitFor();
  const third = await visitor.open();
  await third.getByRole('textbox', { name: 'Message' }).waitFor();
  assert.equal(await third.getByRole('textbox', { name: 'Message' }).inputValue(), '');
});
