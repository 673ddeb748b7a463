// A server asks the user something in the middle of a call, while another chat uses the same server.

import assert from 'node:assert/strict';
import { callOf, picture, said } from '../browser/browser.mjs';
import { approve, ask } from './page.mjs';
import { ASKS } from './script.mjs';

const NAME = { name: 'String', exact: true };

export async function answerQuestions(step, { visitor }) {
  await step('page: of two open chats, a stdio server’s question is in the one that caused it', async () => {
    const [asking, other] = [await visitor.open(), await visitor.open()];
    await question(asking, 'everything', ASKS.form);
    await ask(other, ASKS.sum);
    await approve(other, 'everything', 'get-sum');
    // Over stdio nothing tells whose question it would be: the call waits, and says why.
    await callOf(other, 'get-sum').getByText('queued', { exact: true }).waitFor();
    await callOf(other, 'get-sum').getByText(/^Queued: .*everything/).waitFor();
    await isOnlyIn(asking, other, 'everything');
    await answer(asking, 'everything');
    await said(other, 'The tool says: The sum of 19 and 23 is 42.').waitFor();
    await asking.close();
    await other.close();
  });

  await step('page: of two open chats, an HTTP server’s question is in the one that caused it', async () => {
    const [asking, other] = [await visitor.open(), await visitor.open()];
    await question(asking, 'remote', ASKS.remoteForm);
    await ask(other, ASKS.remoteSum);
    await approve(other, 'remote', 'get-sum');
    // Over HTTP a question comes with its call: others need not wait.
    await said(other, 'The tool says: The sum of 20 and 24 is 44.').waitFor();
    await isOnlyIn(asking, other, 'remote');
    await answer(asking, 'remote');
    await asking.close();
    await other.close();
  });
}

/** Makes a server ask. */
async function question(page, server, words) {
  await ask(page, words);
  await approve(page, server, 'trigger-elicitation-request');
  await page.getByRole('textbox', NAME).waitFor();
}

async function isOnlyIn(asking, other, server) {
  await picture(asking, `question-of-${server}`);
  await picture(other, `no-question-of-${server}`);
  assert.equal(await asking.getByRole('textbox', NAME).count(), 1);
  assert.equal(await other.getByRole('textbox', NAME).count(), 0, 'the form is in the wrong chat');
}

async function answer(page, server) {
  const form = page.getByRole('region', { name: `${server} asks` });
  await form.getByRole('textbox', NAME).fill('Ada Lovelace');
  await form.getByRole('button', { name: 'Send', exact: true }).click();
  await said(page, 'The tool says: ✅ User provided the requested information!').waitFor();
  await said(page, /Name: Ada Lovelace/).first().waitFor();
}
