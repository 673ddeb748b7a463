// Servers, their tools, and what an assistant may use of them.

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

const PASTED = `{
  // As a server's documentation would show it.
  "mcpServers": {
    "helper": { "command": "switchboard", "args": ["demo-server", "--stdio"] },
    "broken": { "command": "no-such-program-anywhere" },
  }
}`;

scene(
  program,
  'a server pasted as JSON is added, tested, and one of its tools switched off is gone from the next request',
  {},
  async (visitor) => {
    const page = await visitor.open('settings/mcp');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('Paste a URL, a command line or JSON').fill(PASTED);
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'helper' }) });
    // Both were tried when they were added.
    await card.getByText('connected', { exact: true }).waitFor();
    const bad = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'broken' }) });
    await bad.getByText('failed', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Test' }).click();
    await card.getByText('It works.').waitFor();
    await bad.getByRole('button', { name: 'Test' }).click();
    await bad.getByText('The test failed.').waitFor();
    await bad
      .getByText(/no-such-program-anywhere/)
      .last()
      .waitFor();
    await picture(page, 'servers');

    await page.getByRole('link', { name: 'New chat' }).click();
    await say(page, 'What can you do?');
    const first = await model.next();
    const named = (turn, tool) => turn.tools().some((name) => name.endsWith(tool));
    assert.ok(named(first, 'write_note') && named(first, 'echo'));
    first.say('Much.');
    first.finish();
    await said(page, 'Much.').waitFor();

    await page.getByRole('link', { name: 'Servers' }).click();
    await card.getByRole('link', { name: 'Tools' }).click();
    const off = page.getByRole('switch', { name: 'Offer write_note to models' });
    await off.waitFor();
    await picture(page, 'tools');
    await off.click();
    await page.getByText(/^13 of 14 tools on/).waitFor();
    await page.goBack();
    await page.goBack();
    await say(page, 'And now?');
    const second = await model.next();
    assert.ok(!named(second, 'write_note') && named(second, 'echo'));
    second.say('Less.');
    second.finish();
    await said(page, 'Less.').waitFor();
  },
);

scene(
  program,
  'a tool is tried from its form, and shows what each provider will see',
  {},
  async (visitor) => {
    const page = await visitor.open('servers');
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'helper' }) });
    await card.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('button', { name: 'add', exact: true }).click();
    const tool = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('button', { name: 'add', exact: true }) });
    await tool.getByText('Try it').click();
    await tool.getByLabel('a', { exact: true }).fill('2');
    await tool.getByLabel('b', { exact: true }).fill('x');
    await tool.getByRole('button', { name: 'Run' }).click();
    await tool.getByText('b must be a number.').waitFor();
    await tool.getByLabel('b', { exact: true }).fill('40');
    await tool.getByRole('button', { name: 'Run' }).click();
    await tool.getByText('It answered').waitFor();
    await tool.getByText('42').first().waitFor();
    await page.getByRole('button', { name: 'odd', exact: true }).click();
    const odd = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('button', { name: 'odd', exact: true }) });
    await odd.getByText('What a model will see').click();
    await odd.getByLabel('Provider').selectOption('gemini');
    await odd.getByText('What changes on the way').waitFor();
    await picture(page, 'tool');
  },
);

scene(
  program,
  'never is never: a tool set so does not run, and always this tool is remembered and forgotten',
  {},
  async (visitor) => {
    const page = await visitor.open('servers');
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'helper' }) });
    await card.getByRole('link', { name: 'Tools' }).click();
    await page.getByLabel('What happens when fail is called').selectOption('deny');
    await page.getByText('never runs').waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    await say(page, 'Fail, then echo');
    const first = await model.next();
    first.call(['fail', {}]);
    const second = await model.next();
    second.call(['echo', { text: 'hello' }]);
    await page.getByRole('button', { name: 'Approve for…' }).click();
    await page.getByRole('menuitem', { name: 'Always this tool' }).click();
    const third = await model.next();
    third.say('That is all.');
    third.finish();
    await said(page, 'That is all.').waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    const rule = page.getByRole('row').filter({ hasText: 'echo' });
    await rule.getByText('runs', { exact: true }).waitFor();
    await picture(page, 'approvals');
    await rule.getByRole('button', { name: /^Forget/ }).click();
    await rule.waitFor({ state: 'detached' });
  },
);

scene(
  program,
  'an assistant picks its servers, and only their tools are offered',
  {},
  async (visitor) => {
    const page = await visitor.open('assistants');
    await page.getByRole('button', { name: 'New', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Hermit');
    await dialog.getByLabel('Instructions').fill('Speak little.');
    await dialog.getByLabel('Uses').selectOption('manual');
    await dialog.getByLabel('helper').waitFor();
    await picture(page, 'assistant');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Hermit' }).waitFor();
    await picture(page, 'assistants');
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.getByTitle('Assistant, model and approvals').click();
    await page.getByRole('dialog').getByLabel('Assistant').selectOption({ label: 'Hermit' });
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await say(page, 'Hello');
    const turn = await model.next();
    assert.deepEqual(turn.tools(), []);
    assert.ok(JSON.stringify(turn.request.messages).includes('Speak little.'));
    turn.say('Hm.');
    turn.finish();
    await said(page, 'Hm.', { exact: true }).waitFor();
  },
);

scene(
  program,
  'text and calls stand in the order they came, after a reload as well',
  {},
  async (visitor) => {
    const page = await visitor.open();
    await say(page, 'Look, then tell');
    const first = await model.next();
    first.say('First I look. 😀');
    first.call(['echo', { text: 'seen' }]);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    const second = await model.next();
    second.say('Then I tell.');
    second.finish();
    await said(page, 'Then I tell.').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    const order = async () => {
      const text = await page.getByRole('region', { name: 'Messages' }).textContent();
      return ['First I look.', 'echo', 'Then I tell.'].map((part) => text.lastIndexOf(part));
    };
    const inOrder = async () => {
      const places = await order();
      assert.deepEqual(
        [...places].sort((one, other) => one - other),
        places,
      );
    };
    await inOrder();
    await page.reload();
    await said(page, 'Then I tell.').waitFor();
    await inOrder();
  },
);

scene(program, 'several calls at once are approved at once', {}, async (visitor) => {
  const page = await visitor.open();
  await say(page, 'Say three things');
  const turn = await model.next();
  turn.call(['echo', { text: 'one' }], ['echo', { text: 'two' }], ['echo', { text: 'three' }]);
  await page.getByText('3 questions wait for your answer.').waitFor();
  await picture(page, 'chat-approve-all');
  await page.getByRole('button', { name: 'Approve all 3' }).click();
  const second = await model.next();
  const reported = second.request.messages.filter(({ role }) => role === 'tool');
  assert.deepEqual(
    reported.map(({ content }) => content),
    ['one', 'two', 'three'],
  );
  second.say('Said.');
  second.finish();
  await said(page, 'Said.').waitFor();
  await page.getByText('questions wait').waitFor({ state: 'hidden' });
});

scene(
  program,
  'an answer that reaches its limit shows it, and continues on request',
  {},
  async (visitor) => {
    const page = await visitor.open('settings');
    await page.getByLabel('Rounds an answer may take').fill('1');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. The next answer uses it.').waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    await say(page, 'Echo, then tell');
    const turn = await model.next();
    turn.call(['echo', { text: 'again' }]);
    await page.getByText('Stopped at the limit of rounds.').waitFor();
    await picture(page, 'chat-limit');
    await page.getByRole('button', { name: 'Continue' }).click();
    const second = await model.next();
    second.say('Reported.');
    second.finish();
    await said(page, 'Reported.').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
  },
);

scene(
  program,
  'a program is put in a sandbox from its form, and the page shows what it may do',
  { expect: [/422/] },
  async (visitor) => {
    const page = await visitor.open('servers');
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'helper' }) });
    await card.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('navigation', { name: 'About this server' }).waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Sandbox').selectOption('own');
    await form.getByLabel('May read').fill('notes');
    await form.getByLabel('Start it even if this machine cannot enforce all of it').check();
    await form.getByRole('button', { name: 'Save', exact: true }).click();
    await form.getByText(/neither an absolute path/).waitFor();
    await picture(page, 'sandbox-form');
    await form.getByLabel('May read').fill('/usr/share');
    await form.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('In a sandbox: reads /usr/share; changes its own folder only; no network.').waitFor();
    await picture(page, 'sandbox');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await form.getByLabel('Sandbox').selectOption('off');
    await form.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/^In a sandbox/).waitFor({ state: 'detached' });
  },
);

const DESCRIBED = {
  name: 'com.example/lodge',
  description: 'Helps',
  version: '1.0.2',
  remotes: [
    {
      type: 'streamable-http',
      url: 'http://127.0.0.1:9/{room}',
      variables: { room: { description: 'Which room', choices: ['red', 'blue'], isRequired: true } },
    },
  ],
};

scene(program, 'a server is installed once all that it would do was shown', {}, async (visitor) => {
  const page = await visitor.open('settings/mcp');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('button', { name: 'install one' }).click();
  const dialog = page.getByRole('dialog', { name: 'Install a server' });
  await dialog.getByLabel('Or a file').setInputFiles({
    name: 'server.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(DESCRIBED)),
  });
  await dialog.getByRole('button', { name: 'Show what it would do' }).click();
  await dialog.getByText('the server needs values that were not given').waitFor();
  await dialog.getByLabel('room (required)').selectOption('blue');
  await dialog.getByRole('button', { name: 'Show what it would do' }).click();
  await dialog.getByText('http://127.0.0.1:9/blue').waitFor();
  // Another answer is shown first, too.
  await dialog.getByLabel('room (required)').selectOption('red');
  await dialog.getByRole('button', { name: 'Install', exact: true }).click();
  await dialog.getByText('http://127.0.0.1:9/red').waitFor();
  await picture(page, 'dialog-install');
  await dialog.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'lodge' }) });
  await card.waitFor();
});
