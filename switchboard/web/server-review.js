// What a server may do once it is approved: its whole command, what it is given, and who asks for it.

import { h } from './dom.js';
import { plain } from './format.js';
import { text } from './text.js';

const t = text.review;

/** All of it, nothing cut. */
export function review(server) {
  const names = (values) => Object.keys(values ?? {}).map(plain).join(', ');
  const inherits = server.command && server.envPolicy === 'inherit' && text.edit.policies.inherit;
  const lines = [
    [server.command ? t.runs : t.connects, plain(server.endpoint)],
    [t.folder, plain(server.cwd)],
    [t.sets, names(server.env)],
    [t.inherits, inherits],
    [t.sends, names(server.headers)],
    [t.from, plain(server.source)],
  ];
  const said = lines.filter(([, words]) => words);
  return h(
    'dl',
    { class: 'review' },
    said.map(([name, words]) => h('div', {}, h('dt', {}, name), h('dd', { class: 'mono' }, words))),
  );
}
