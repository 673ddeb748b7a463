// A server asks the user something in the middle of a call.

import assert from 'node:assert/strict';
import { picture, said } from '../browser/browser.mjs';
import { approve, ask } from './page.mjs';
import { ASKS } from './script.mjs';

export async function answerQuestions(step, { visitor }) {
  for (const [server, words] of [
    ['everything', ASKS.form],
    ['remote', ASKS.remoteForm],
  ]) {
    await step(`page: of two open chats, the question of ${server} is in the one that caused it`, async () => {
      const [asking, other] = [await visitor.open(), await visitor.open()];
      await ask(other, ASKS.small);
      await said(other, `You said: ${ASKS.small}`).waitFor();
      await ask(asking, words);
      await approve(asking, server, 'trigger-elicitation-request');
      const name = { name: 'String', exact: true };
      await asking.getByRole('textbox', name).waitFor();
      // Whatever the other chat heard of by then, it shows before its own next answer.
      await ask(other, 'Anything new?');
      await said(other, 'You said: Anything new?').waitFor();
      await picture(other, `no-question-of-${server}`);
      assert.equal(await other.getByRole('textbox', name).count(), 0, 'the form is in the wrong chat');
      await picture(asking, `question-of-${server}`);
      const form = asking.getByRole('region', { name: `${server} asks` });
      await form.getByRole('textbox', name).fill('Ada Lovelace');
      await form.getByRole('button', { name: 'Send', exact: true }).click();
      await said(asking, 'The tool says: ✅ User provided the requested information!').waitFor();
      await said(asking, /Name: Ada Lovelace/).first().waitFor();
      await asking.close();
      await other.close();
    });
  }
}
