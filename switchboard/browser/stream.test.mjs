// Text as it comes: stopped, replayed, lost and found again.

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

scene(
  program,
  'reload mid-stream replays without loss, and nothing is shown twice',
  { expect: [/ERR_ABORTED|ERR_FAILED|network/i] },
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Count for me');
    const turn = await model.next();
    turn.say('one, two, 😀 ');
    await said(page, 'one, two, 😀').waitFor();
    await page.reload();
    turn.say('three, ');
    await said(page, 'one, two, 😀 three,').waitFor();
    const other = await visitor.open();
    await other.goto(page.url());
    turn.say('four, ');
    await page.reload();
    turn.say('five.');
    turn.finish();
    for (const tab of [page, other]) {
      await said(tab, 'one, two, 😀 three, four, five.', { exact: true }).waitFor();
      await tab.getByRole('button', { name: 'Send' }).waitFor();
      assert.equal(await said(tab, 'one, two').count(), 1);
      assert.equal(await tab.getByRole('region', { name: 'Messages' }).getByText('Count for me').count(), 1);
    }
  },
);

scene(
  program,
  'stop mid-stream: the model is let go, what came stays, and it can go on',
  {},
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Talk for ever');
    const turn = await model.next();
    turn.say('On and on');
    await said(page, 'On and on').waitFor();
    await picture(page, 'chat-streaming');
    await page.getByRole('button', { name: 'Stop' }).click();
    await turn.closed;
    await page.getByText('Stopped.').waitFor();
    await said(page, 'On and on').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    const again = await model.next();
    again.say('and to the end.');
    again.finish();
    await said(page, 'and to the end.').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await page.getByText('Stopped.').waitFor({ state: 'hidden' });
  },
);

scene(
  program,
  'kill -9 mid-stream: the page shows it, reconnects, and the answer goes on',
  { expect: [/ERR_|network/i] },
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Wait for me');
    const turn = await model.next();
    turn.say('before the fall ');
    await said(page, 'before the fall').waitFor();
    await program.kill();
    await page.getByText('Connection lost. Trying again…').waitFor();
    await program.begin();
    await page.getByText('Connection lost. Trying again…').waitFor({ state: 'hidden' });
    await page.getByText('The answer was interrupted.').waitFor();
    await said(page, 'before the fall').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    const again = await model.next();
    again.say('and after');
    again.finish();
    await said(page, 'and after').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
  },
);

scene(
  program,
  'what is being read does not move while text comes, and the end is followed',
  {},
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'A long one');
    const turn = await model.next();
    const lines = Array.from({ length: 80 }, (_, number) => `line ${number + 1}\n\n`);
    turn.say(lines.slice(0, 60).join(''));
    const log = page.getByRole('region', { name: 'Messages' });
    await said(page, 'line 60', { exact: true }).waitFor();
    const place = () =>
      log.evaluate((it) => ({ top: it.scrollTop, rest: it.scrollHeight - it.scrollTop - it.clientHeight }));
    await until(async () => (await place()).rest < 2, 'the end is followed');
    await log.evaluate((it) => {
      it.scrollTop = 100;
    });
    await page.getByRole('button', { name: 'Go to the newest message' }).waitFor();
    const { top } = await place();
    turn.say(lines.slice(60).join(''));
    turn.finish();
    await said(page, 'line 80', { exact: true }).waitFor({ state: 'attached' });
    assert.equal((await place()).top, top);
    await page.getByRole('button', { name: 'Go to the newest message' }).click();
    await until(async () => (await place()).rest < 2, 'the end is shown');
  },
);

scene(program, 'markdown and HTML of a model are shown, and never obeyed', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Be wicked');
  const turn = await model.next();
  turn.say(
    '<img src="https://evil.example/a.png" onerror="alert(1)"> ![x](https://evil.example/b.png) [y](javascript:alert(1)) **bold**\n\n```html\n<script>alert(1)</script>\n```\n',
  );
  turn.finish();
  await said(page, 'bold', { exact: true }).waitFor();
  const log = page.getByRole('region', { name: 'Messages' });
  assert.equal(await log.locator('img, script, iframe, [onerror]').count(), 0);
  assert.deepEqual(
    await log.locator('a').evaluateAll((links) => links.map((it) => it.getAttribute('href'))),
    ['https://evil.example/a.png', 'https://evil.example/b.png'],
  );
  assert.ok(await log.getByText('<img src=').count());
});

scene(program, 'long chats open with the newest messages and page back to the first', {}, async (visitor) => {
  const { id } = await program.api('POST', 'conversations', {});
  for (let number = 1; number <= 30; number += 1) {
    await program.api('POST', `conversations/${id}/messages`, { content: `question ${number}` });
    const turn = await model.next();
    turn.say(`answer ${number}`);
    turn.finish();
    await until(async () => !(await program.api('GET', `conversations/${id}`)).running, 'the answer ends');
  }
  const page = await visitor.open(`chat/${id}`);
  await said(page, 'answer 30', { exact: true }).waitFor();
  assert.equal(await said(page, 'question 1', { exact: true }).count(), 0, 'only the newest are loaded');
  const log = page.getByRole('region', { name: 'Messages' });
  await log.evaluate((it) => {
    it.scrollTop = 0;
  });
  await said(page, 'question 1', { exact: true }).waitFor({ state: 'attached' });
  assert.equal(await log.getByRole('listitem').count(), 60);
});
