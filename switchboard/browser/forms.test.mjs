// What is typed and cannot be understood is refused where it was typed, and nothing that was typed is lost.

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

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const REFUSED = { expect: [/status of 4(?:00|09|22)/] };

/** The control has the focus, is marked as invalid, is described by the problem, and is in view. */
async function refused(control, problem) {
  await control.page().locator('.problem', { hasText: problem }).first().waitFor();
  const facts = await control.evaluate((it) => ({
    focused: document.activeElement === it,
    invalid: it.getAttribute('aria-invalid'),
    reported: (it.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id))
      .filter((place) => place && !place.hidden && place.classList.contains('problem'))
      .map((place) => {
        const { top, bottom, left } = place.getBoundingClientRect();
        const front = document.elementFromPoint(left + 3, (top + bottom) / 2);
        return [place.textContent, place.contains(front)];
      }),
  }));
  assert.deepEqual(facts, { focused: true, invalid: 'true', reported: [[problem, true]] });
}

for (const [screen, options] of [
  ['desktop', {}],
  ['phone', PHONE],
]) {
  scene(program, `limits that are no numbers are refused at their fields (${screen})`, options, async (visitor) => {
    await program.api('PUT', 'settings', { max_rounds: 7, max_cost: 0.25 });
    const page = await visitor.open('settings');
    const cost = page.getByLabel('Dollars an answer may cost');
    const rounds = page.getByLabel('Rounds an answer may take');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await cost.fill('0,50');
    await save.click();
    await refused(cost, 'Dollars must be a number: write 0.50.');
    await picture(page, `settings-refused-${screen}`);
    await cost.fill('0.50');
    assert.equal(await cost.getAttribute('aria-invalid'), null, 'it goes while it is mended');
    await rounds.fill('abc');
    await save.click();
    await refused(rounds, 'Rounds must be a number.');
    assert.equal(await page.getByText('Saved.').count(), 0);
    const kept = await program.api('GET', 'settings');
    assert.deepEqual([kept.max_rounds, kept.max_cost], [7, 0.25], 'nothing was changed');
    await rounds.fill('9');
    await save.click();
    await page.getByText('Saved.').waitFor();
    const now = await program.api('GET', 'settings');
    assert.deepEqual([now.max_rounds, now.max_cost], [9, 0.5]);
  });

  scene(
    program,
    `the form of a server refuses in front of everything, at the field (${screen})`,
    { ...options, ...REFUSED },
    async (visitor) => {
      await program.api('POST', 'mcp-servers', { name: `taken-${screen}`, command: 'run', isActive: false });
      const page = await visitor.open('servers');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('button', { name: 'fill in the fields' }).click();
      const dialog = page.getByRole('dialog', { name: 'New server' });
      const save = dialog.getByRole('button', { name: 'Save', exact: true });
      const name = dialog.getByLabel('Name', { exact: true });
      await save.click();
      await refused(name, 'Name is required.');
      await name.fill(`taken-${screen}`);
      await save.click();
      const command = dialog.getByLabel('Program', { exact: true });
      await refused(command, 'Program is required.');
      await command.fill('run');
      await dialog.getByText('More', { exact: true }).click();
      const idleTimeout = dialog.getByLabel('Idle timeout of a call');
      await idleTimeout.fill('ten');
      await dialog.getByText('More', { exact: true }).click();
      await save.click();
      await refused(idleTimeout, 'Idle timeout must be a number.');
      await idleTimeout.fill('10');
      await save.click();
      // The program itself refuses the rest, and says which member it means.
      await refused(name, `there is a server "taken-${screen}" already. Take another name.`);
      await picture(page, `server-refused-${screen}`);
      await dialog.getByRole('button', { name: 'Add variable' }).click();
      await dialog.getByLabel('Name of the variable').fill('KEY');
      await dialog.getByLabel('Value of the variable').fill('hush');
      await name.fill(`other-${screen}`);
      await save.click();
      await dialog.locator('.pair .problem', { hasText: 'cannot be stored safely' }).waitFor();

      // Escape asks before it drops all that.
      await page.keyboard.press('Escape');
      const sure = page.getByRole('dialog', { name: 'Discard what you typed?' });
      await sure.getByRole('button', { name: 'Cancel' }).click();
      assert.equal(await name.inputValue(), `other-${screen}`);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await sure.waitFor({ state: 'detached' });
      assert.equal(await dialog.count(), 1, 'Escape answers the question by no');
      await page.keyboard.press('Escape');
      await sure.getByRole('button', { name: 'Discard' }).click();
      await dialog.waitFor({ state: 'detached' });
    },
  );
}

scene(program, 'an untouched form closes by Escape at once', {}, async (visitor) => {
  const page = await visitor.open('assistants');
  await page.getByRole('button', { name: 'New', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'New assistant' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

scene(program, 'a secret in pasted JSON is refused as one in the form is', {}, async (visitor) => {
  const page = await visitor.open('servers');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a server' });
  const add = dialog.getByRole('button', { name: 'Add', exact: true });
  const text = JSON.stringify({ mcpServers: { keyed: { command: 'run', env: { KEY: 'hush' }, disabled: true } } });
  await dialog.getByLabel('Paste a URL, a command line or JSON').fill(text);
  await add.click();
  await dialog.getByRole('alert').getByText(/^keyed: .*cannot be stored safely/).waitFor();
  const { items } = await program.api('GET', 'mcp-servers');
  assert.ok(!items.some(({ name }) => name === 'keyed'));
  await dialog.getByLabel('Keep secrets in it in plain text').check();
  await add.click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'keyed' }).waitFor();
});

scene(program, 'what was written survives a look at other views, and goes once it is sent', {}, async (visitor) => {
  const page = await visitor.open();
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.fill('half a thought');
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Rounds an answer may take').waitFor();
  await page.goBack();
  assert.equal(await composer.inputValue(), 'half a thought');
  await composer.press('Enter');
  const turn = await model.next();
  turn.say('Yes?');
  turn.finish();
  await said(page, 'Yes?').waitFor();
  await composer.fill('another');
  await page.getByRole('link', { name: 'New chat' }).click();
  await until(async () => (await composer.inputValue()) === '', 'a new chat has no draft');
  await page.goBack();
  await until(async () => (await composer.inputValue()) === 'another', 'the draft is back');
});

scene(
  program,
  'a model that cannot be asked leaves no empty chat, and the words stay',
  REFUSED,
  async (visitor) => {
    const page = await visitor.open();
    const before = (await program.api('GET', 'conversations')).items.length;
    await page.getByTitle('Assistant, model and approvals').click();
    const dialog = page.getByRole('dialog', { name: 'This chat' });
    await dialog.getByLabel('Model').fill('no-such-model');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await say(page, 'Hello?');
    const notices = page.locator('#notices');
    await notices.getByText(/no-such-model/).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'Hello?');
    assert.equal((await program.api('GET', 'conversations')).items.length, before);

    // The notice is not in the way, and can be sent away.
    const shut = (locator) => locator.evaluate((it) => it.getBoundingClientRect().toJSON());
    const [box, send] = [await shut(notices), await shut(page.getByRole('button', { name: 'Send' }))];
    assert.ok(box.bottom < send.top || box.right < send.left, 'it does not cover Send');
    await picture(page, 'notice');
    await notices.getByRole('button', { name: 'Dismiss' }).click();
    assert.equal(await notices.getByText(/no-such-model/).count(), 0);
  },
);

scene(program, 'a notice of an error goes by itself after a while', {}, async (visitor) => {
  const page = await visitor.context.newPage();
  await page.clock.install();
  await page.goto(program.link);
  await page.locator('#side').waitFor({ state: 'attached' });
  await page.evaluate(async () => (await import('/notices.js')).notice('It failed.', 'error'));
  assert.equal(await page.getByText('It failed.').count(), 1);
  await page.clock.runFor(60_000);
  assert.equal(await page.getByText('It failed.').count(), 0);
});
