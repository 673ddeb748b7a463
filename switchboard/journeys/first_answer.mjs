// A newcomer at the page: a typed key, a pasted server, a first answer; and what it takes.

import { Visitor, picture, said } from '../browser/browser.mjs';
import { command } from './outside.mjs';
import { User } from './user.mjs';

/** Counts what a person does. */
class Effort {
  clicks = 0;
  keys = 0;

  async click(control) {
    this.clicks += 1;
    await control.click();
  }

  /** Opens a list and takes one of its entries. */
  async choose(list, value) {
    this.clicks += 2;
    await list.selectOption(value);
  }

  async paste(field, text) {
    await this.click(field);
    this.keys += 1;
    await field.page().keyboard.insertText(text);
  }

  async type(field, text) {
    this.keys += text.length + 1;
    await field.pressSequentially(text);
    await field.press('Enter');
  }
}

export async function firstAnswer(step, { provider }) {
  const effort = new Effort();
  await step('page: from the link to a first answer, with a typed key and a pasted server', async () => {
    const newcomer = await User.arrive();
    const visitor = await Visitor.arrive(newcomer);
    try {
      await newcomer.begin();
      const page = await visitor.open();
      await effort.click(page.getByRole('button', { name: 'Choose a model' }));
      const model = page.getByRole('dialog', { name: 'Choose a model' });
      await effort.choose(model.getByLabel('Provider'), '');
      await effort.paste(model.getByLabel('Base URL'), provider.url);
      await effort.paste(model.getByLabel('Key'), 'sk-journey-4711');
      await effort.click(model.getByRole('button', { name: 'Test' }));
      await model.getByText('It works: one model.').waitFor();
      await effort.click(model.getByRole('button', { name: 'Use this model' }));
      await page.getByText(/is now in use/).waitFor();
      await effort.click(page.getByRole('button', { name: 'Add a server' }));
      const add = page.getByRole('dialog', { name: 'Add a server' });
      await effort.paste(add.getByLabel('Paste a URL, a command line or JSON'), command('memory').join(' '));
      await effort.click(add.getByRole('button', { name: 'Add', exact: true }));
      await page.getByText(/^Added /).waitFor();
      await effort.type(page.getByRole('textbox', { name: 'Message' }), 'Hello');
      await said(page, 'You said: Hello').waitFor();
      await picture(page, 'first-answer');
      visitor.check();
      await newcomer.stop();
      await newcomer.nothingRuns();
    } finally {
      await visitor.context.close();
      await newcomer.leave();
    }
  });
  console.log(`     to the first answer: ${effort.clicks} clicks, ${effort.keys} keystrokes`);
}
