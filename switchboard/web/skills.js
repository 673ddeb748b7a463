// Skills of servers: instructions for a kind of work, which go with a message as a file.

import { get, query } from './api.js';
import { confirm } from './dialog.js';
import { plain } from './format.js';
import { text } from './text.js';

const t = text.picker;

/** Reads a skill and gives it to `attach` as a file, after a question if it has signs of an attack. */
export async function useSkill(path, { uri, name }, attach) {
  const { file, text: words, findings } = await get(`${path}/skills/read${query({ uri })}`);
  if (findings.length) {
    const signs = findings.map(({ explanation, evidence }) => `${explanation ?? ''} “${evidence ?? ''}”`);
    const about = `${t.suspicious}\n${signs.join('\n')}`;
    if (!(await confirm(plain(name ?? uri), about, t.attachAnyway))) return;
  }
  attach([new File([words], file, { type: 'text/markdown' })]);
}
