// `cargo xtask journeys`: the program as users build it, in default settings, with real servers and
// more tools than are listed, the whole way.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Visitor, picture, quit } from '../browser/browser.mjs';
import { everythingOverHttp, provider } from './outside.mjs';
import { rules } from './script.mjs';
import { Terminal } from './terminal.mjs';
import { User } from './user.mjs';
import { firstStart } from './first_start.mjs';
import { firstAnswer } from './first_answer.mjs';
import { speakLanguages } from './speak_languages.mjs';
import { addServers } from './add_servers.mjs';
import { converse } from './converse.mjs';
import { callTools } from './call_tools.mjs';
import { answerQuestions } from './answer_questions.mjs';
import { saveResult } from './save_result.mjs';
import { surviveKills } from './survive_kills.mjs';
import { changeFrontEnds } from './change_front_ends.mjs';

const CHAPTERS = [
  firstStart,
  firstAnswer,
  speakLanguages,
  addServers,
  converse,
  callTools,
  answerQuestions,
  saveResult,
  surviveKills,
  changeFrontEnds,
];

const folder = await mkdtemp(join(tmpdir(), 'switchboard-outside-'));
const user = await User.arrive();
const remote = await everythingOverHttp();
const wire = await provider(folder, rules(user.documents));
const visitor = await Visitor.arrive(user, { expect: [/ERR_|network/i] });
const world = { user, visitor, remote, provider: wire };
let number = 0;

/** A step of the story; the first that fails ends it, and what a person saw then is shown. */
async function step(name, body) {
  number += 1;
  const begun = Date.now();
  try {
    await body();
    visitor.check();
    console.log(`ok   ${number} ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  } catch (error) {
    console.log(`FAIL ${number} ${name}\n${error.stack}`);
    for (const terminal of Terminal.all) console.log(`--- ${terminal.title}\n${terminal.screen()}`);
    for (const [at, page] of visitor.context.pages().entries()) {
      const text = await page.locator('body').innerText();
      console.log(`--- page ${at}: ${page.url().replace(/token=.*/, 'token=…')}\n${text.slice(-3000)}`);
      await picture(page, `failed-${number}-${at}`);
    }
    console.log(`--- faults of the page\n${visitor.faults.slice(-10).join('\n')}`);
    console.log(`--- serve\n${user.errors.slice(-3000)}`);
    console.log(`--- provider\n${wire.child.log.slice(-1000)}`);
    console.log(`--- remote\n${remote.child.log.slice(-1000)}`);
    console.log(`--- processes\n${(await user.processes()).map((it) => `${it.pid} ${it.command}`).join('\n')}`);
    await clear();
    process.exit(1);
  }
}

/** Ends all that runs, and takes the folders away. */
async function clear() {
  for (const terminal of [...Terminal.all]) await terminal.kill();
  if (user.child) await user.kill();
  await quit();
  await user.leave();
  await rm(folder, { recursive: true, force: true });
}

for (const chapter of CHAPTERS) await chapter(step, world);
await clear();
console.log(`${number} steps passed`);
process.exit(0);
