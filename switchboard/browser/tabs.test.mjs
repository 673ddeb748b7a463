// Many tabs: one stream for all of them, which outlives the tab that follows it.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Visitor, quit, said, say, scene, until } from './browser.mjs';
import { Model } from './model.mjs';
import { Program } from './program.mjs';

const model = await Model.start();
const program = await Program.start({ env: model.env });
after(async () => {
  await quit();
  await program.end();
  await model.end();
});

/** How many streams of events the visitor's tabs hold open. */
function streams(visitor) {
  const open = new Set();
  visitor.context.on('request', (request) => request.url().endsWith('/api/events') && open.add(request));
  for (const name of ['requestfinished', 'requestfailed'])
    visitor.context.on(name, (request) => open.delete(request));
  return () => [...open].filter((request) => !request.frame().page().isClosed()).length;
}

const EXPECT = { expect: [/ERR_|network|status of 502/i] };

scene(program, 'ten tabs share one stream, and all of them go on', EXPECT, async (visitor) => {
  const open = streams(visitor);
  const tabs = [];
  for (let number = 0; number < 10; number += 1) tabs.push(await visitor.open());
  assert.equal(open(), 1);
  await say(tabs[9], 'Are you there?');
  const turn = await model.next();
  turn.say('Still here.');
  turn.finish();
  await said(tabs[9], 'Still here.').waitFor();
  for (const tab of tabs)
    await tab.getByRole('navigation').getByRole('link', { name: 'Are you there?' }).waitFor();
  assert.equal(open(), 1);
});

test('another user’s link in the same browser makes every tab theirs, and shows nothing of one to the other', async () => {
  const two = await Program.start({ env: model.env, args: ['--user', 'ann', '--user', 'bob'] });
  const visitor = await Visitor.arrive(two, EXPECT);
  const ann = await visitor.open();
  await ann.getByText(/· ann$/).waitFor();
  await say(ann, 'A secret of Ann');
  const turn = await model.next();
  turn.say('Kept.');
  turn.finish();
  await said(ann, 'Kept.').waitFor();
  await ann.getByRole('link', { name: 'New chat' }).click();
  await ann.getByRole('textbox', { name: 'Message' }).fill('A draft of Ann');
  two.link = two.links.find(({ user }) => user === 'bob').url;
  const bob = await visitor.open();
  for (const tab of [bob, ann]) {
    await tab.getByText(/· bob$/).waitFor();
    await until(async () => (await tab.getByText('A secret of Ann').count()) === 0, 'a page of Bob’s');
    assert.equal(await tab.getByRole('textbox', { name: 'Message' }).inputValue(), '');
  }
  await say(bob, 'Hello from Bob');
  const next = await model.next();
  next.say('Hello, Bob.');
  next.finish();
  await said(bob, 'Hello, Bob.').waitFor();
  await ann.getByRole('navigation').getByRole('link', { name: 'Hello from Bob' }).waitFor();
  visitor.check();
  await visitor.context.close();
  await two.end();
});

scene(program, 'the tab that follows closes mid-answer: another takes over, nothing is lost', EXPECT, async (visitor) => {
  const open = streams(visitor);
  const first = await visitor.open();
  const second = await visitor.open();
  const third = await visitor.open();
  await say(second, 'Count');
  const turn = await model.next();
  turn.say('one ');
  await said(second, 'one').waitFor();
  await third.goto(second.url());
  await said(third, 'one').waitFor();
  await first.close();
  turn.say('two ');
  turn.say('three');
  turn.finish();
  for (const tab of [second, third]) await said(tab, 'one two three', { exact: true }).waitFor();
  await until(async () => open() === 1, 'one stream');
});

scene(program, 'a tab that was put to sleep loses the stream to one that is in view', EXPECT, async (visitor) => {
  const first = await visitor.open();
  const second = await visitor.open();
  const session = await visitor.context.newCDPSession(first);
  await session.send('Page.enable');
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await second.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await say(second, 'Wake up');
  const turn = await model.next();
  turn.say('Awake.');
  turn.finish();
  await said(second, 'Awake.').waitFor();
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await first.getByRole('navigation').getByRole('link', { name: 'Wake up' }).waitFor();
});
