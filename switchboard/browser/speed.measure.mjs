// How fast the page is: what it loads, a chat of 1,000 messages, 500 tools, a stream of 4,000 pieces, ten
// tabs. The figures are for people to read: `cargo xtask browser speed` prints them, and nothing claims them.

import { after } from 'node:test';
import { picture, quit, said, say, scene, until } from './browser.mjs';
import { Model } from './model.mjs';
import { Program } from './program.mjs';

const ASKING = new URL('server.mjs', import.meta.url).pathname;
const ROUNDS = 500;
const PIECES = 4000;
const TABS = 10;
const ANSWER = [
  'Here is **one way** to do it, with `code` and [a link](https://example.com):',
  '```rust\nfn main() {\n    let name = "world";\n    println!("hello {name}");\n}\n```',
  '| step | what |\n|---|---|\n| 1 | read |\n| 2 | write |',
  '- one\n- two\n  - three\n\nThat is all there is to say about it, for now and for a while.',
].join('\n\n');

const model = await Model.start();
const program = await Program.start({ env: model.env });
await program.api('POST', 'mcp-servers', {
  paste: JSON.stringify({ mcpServers: { many: { command: 'node', args: [ASKING, '500'] } } }),
});
after(async () => {
  await quit();
  await program.end();
  await model.end();
});

const EXPECT = { expect: [/status of 502|ERR_|network/i] };
const ms = (time) => `${time.toFixed(time < 10 ? 1 : 0)} ms`;
const report = (what, figures) => console.log(`${what}: ${figures.join(', ')}`);
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Watches the page's frames and tasks while `body` runs. */
async function watched(page, body) {
  await page.evaluate(() => {
    const seen = { frames: [], tasks: [], on: true };
    globalThis.seen = seen;
    seen.observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.tasks.push(entry.duration);
    });
    seen.observer.observe({ type: 'longtask' });
    let before = performance.now();
    const frame = (now) => {
      seen.frames.push(now - before);
      before = now;
      if (seen.on) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const begun = Date.now();
  await body();
  const took = Date.now() - begun;
  const { frames, tasks } = await page.evaluate(() => {
    seen.on = false;
    seen.observer.disconnect();
    return { frames: seen.frames.slice(1), tasks: seen.tasks };
  });
  frames.sort((one, other) => one - other);
  return [
    `${(took / 1000).toFixed(1)} s`,
    `${frames.length} frames`,
    `frame p50 ${ms(at(frames, 0.5))}`,
    `p99 ${ms(at(frames, 0.99))}`,
    `longest ${ms(frames.at(-1) ?? 0)}`,
    `over 50 ms: ${frames.filter((it) => it > 50).length}`,
    `tasks over 50 ms: ${tasks.length}${tasks.length ? `, the longest ${ms(Math.max(...tasks))}` : ''}`,
  ];
}

scene(program, 'what the page loads, at first and on a reload', EXPECT, async (visitor) => {
  const page = await visitor.open();
  for (const what of ['first load', 'reload']) {
    if (what === 'reload') await page.reload();
    await page.waitForLoadState('load');
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    const [requests, bytes, ready] = await page.evaluate(() => {
      const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
      const files = entries.filter(({ name }) => !name.includes('/api/'));
      const sent = files.filter(({ transferSize }) => transferSize > 0);
      const total = files.reduce((all, { transferSize }) => all + transferSize, 0);
      return [sent.length, total, performance.getEntriesByType('navigation')[0].loadEventEnd];
    });
    report(what, [`${requests} requests for files`, `${bytes.toLocaleString('en')} bytes`, `loaded after ${ms(ready)}`]);
  }
});

scene(program, 'a chat of 1,000 messages is scrolled', EXPECT, async (visitor) => {
  const { id } = await program.api('POST', 'conversations', {});
  for (let round = 0; round < ROUNDS; round += 1) {
    await program.api('POST', `conversations/${id}/messages`, { content: `Question ${round}` });
    const turn = await model.next();
    turn.say(ANSWER);
    turn.finish();
    await until(async () => !(await program.api('GET', `conversations/${id}`)).running, 'the end of an answer');
  }
  const page = await visitor.open(`chat/${id}`);
  await said(page, `Question ${ROUNDS - 1}`).waitFor();
  const log = page.getByRole('region', { name: 'Messages' });
  await log.hover();
  const back = await watched(page, () =>
    until(async () => {
      for (let turn = 0; turn < 10; turn += 1) await page.mouse.wheel(0, -1500);
      return said(page, 'Question 0', { exact: true }).isVisible();
    }, 'the first message'),
  );
  report(`${2 * ROUNDS} messages, scrolled to the first, loading them page by page`, back);
  const forth = await watched(page, () =>
    until(async () => {
      for (let turn = 0; turn < 10; turn += 1) await page.mouse.wheel(0, 1500);
      return log.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight < 100);
    }, 'the last message'),
  );
  report(`${2 * ROUNDS} messages, all loaded, scrolled to the last`, forth);
  await picture(page, 'speed-long-chat');
});

scene(program, 'five hundred tools are filtered', EXPECT, async (visitor) => {
  const page = await visitor.open('tools');
  await page.getByText('506 of 506 tools on').waitFor();
  const search = page.getByRole('searchbox', { name: 'Find a tool of any server' });
  const times = await search.evaluate(async (input) => {
    const painted = () =>
      new Promise((resolve) => {
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = resolve;
          port2.postMessage(null);
        });
      });
    const found = [];
    for (const words of ['m', 'mo', 'more', 'more_4', 'more_49', '', 'does', 'note', '']) {
      const begun = performance.now();
      input.value = words;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await painted();
      found.push(performance.now() - begun);
    }
    return found.sort((one, other) => one - other);
  });
  report('520 tools filtered, a key to the next picture', [`median ${ms(at(times, 0.5))}`, `longest ${ms(times.at(-1))}`]);
});

scene(program, 'an answer comes in 4,000 pieces', EXPECT, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Tell me all');
  const turn = await model.next();
  const words = ANSWER.split(/(?<= )/);
  const figures = await watched(page, async () => {
    for (let piece = 0; piece < PIECES; piece += 1) {
      turn.say(piece % 200 === 199 ? `\n\n${ANSWER}\n\n` : words[piece % words.length]);
      // As a provider sends them: a few at a time.
      if (piece % 8 === 7) await new Promise((resolve) => setTimeout(resolve, 4));
    }
    turn.say('\n\nThe very end.');
    turn.finish();
    await said(page, 'The very end.').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  });
  report(`an answer in ${PIECES} pieces`, figures);
});

scene(program, 'ten tabs are open at once', EXPECT, async (visitor) => {
  const begun = Date.now();
  const tabs = await Promise.all(Array.from({ length: TABS }, () => visitor.open()));
  await Promise.all(tabs.map((tab) => tab.getByRole('textbox', { name: 'Message' }).waitFor()));
  const opened = Date.now() - begun;
  await say(tabs[0], 'Are all of you there?');
  const turn = await model.next();
  turn.say('Yes.');
  turn.finish();
  const link = (tab) => tab.getByRole('navigation').getByRole('link', { name: 'Are all of you there?' });
  await Promise.all(tabs.map((tab) => link(tab).waitFor()));
  const session = await visitor.context.newCDPSession(tabs[0]);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize').value;
  report(`${TABS} tabs`, [
    `opened together in ${ms(opened)}`,
    `a new chat is in all of them after ${ms(Date.now() - begun - opened)}`,
    `${(heap / 1024 / 1024).toFixed(1)} MiB of scripts’ memory in one`,
  ]);
});
