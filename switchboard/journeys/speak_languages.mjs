// The terminal in English and in Chinese: the same way through, in the language of the setting.

import assert from 'node:assert/strict';
import { Terminal } from './terminal.mjs';

const WORDS = {
  en: {
    welcome: 'No model key found',
    question: 'demo wants to run write_note',
    run: 'Run it?',
    help: 'the tools the model can call',
    undone: 'Back to before: write a note',
    error: 'there is no server "nowhere"',
  },
  'zh-CN': {
    welcome: '未找到模型密钥',
    question: 'demo 要运行 write_note',
    run: '要运行吗？',
    help: '模型可以调用的工具',
    undone: '已回到这条消息之前：write a note',
    error: '没有服务器 "nowhere"',
  },
};

export async function speakLanguages(step, { user }) {
  for (const [language, words] of Object.entries(WORDS)) {
    await step(`the terminal in ${language}: a question, completion, a step back, an error`, async () => {
      await user.run('config', 'set', 'language', language);
      const terminal = await Terminal.open(user);
      await terminal.see(words.welcome);
      await terminal.prompt();
      terminal.enter('write a note');
      await terminal.see(words.question);
      await terminal.see(words.run);
      terminal.enter('y');
      await terminal.see('write_note answered');
      await terminal.prompt();
      terminal.type('/he\t');
      await terminal.see('/help ');
      terminal.type('\r');
      await terminal.see(words.help);
      await terminal.prompt();
      terminal.enter('/undo');
      await terminal.see(words.undone);
      await terminal.prompt();
      terminal.enter('/quit');
      assert.equal(await terminal.end(), 0);
      await assert.rejects(user.run('call', 'nowhere', 'add'), (error) => error.stderr.includes(words.error));
      // Programs read English, whatever people read.
      await assert.rejects(user.run('call', 'nowhere', 'add', '--json'), (error) =>
        error.stderr.includes(JSON.stringify(WORDS.en.error).slice(1, -1)),
      );
      await user.nothingRuns();
    });
  }
  await user.run('config', 'set', 'language', 'en');
}
