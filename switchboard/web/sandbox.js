// The sandbox of a server: its fields in the form, and what it says in one line.

import { h } from './dom.js';
import { labelled, select, ticked } from './fields.js';
import { plain } from './format.js';
import { text } from './text.js';

const words = text.sandbox;
const NETWORKS = ['none', 'hosts', 'all'];

/** The fields for a server's sandbox; `value()` is what the API takes. */
export function sandboxFields(old) {
  const profile = old ?? { read: [], write: [], network: 'none', mayBeWeaker: false };
  const choices = [
    ['off', words.off],
    ['suggested', words.suggested],
    ['strict', words.strict],
    ['own', words.own],
  ];
  const choice = select(choices, old ? 'own' : 'off');
  const read = lines(profile.read);
  const write = lines(profile.write);
  const isList = typeof profile.network === 'object';
  const network = select(
    NETWORKS.map((name) => [name, words.network[name]]),
    isList ? 'hosts' : profile.network,
  );
  const hosts = lines(isList ? profile.network.hosts : []);
  const weaker = h('input', { type: 'checkbox', checked: profile.mayBeWeaker === true });
  const listed = labelled(words.hosts, hosts, words.hostsHelp);
  const own = h(
    'div',
    { class: 'fields' },
    labelled(words.read, read, words.pathsHelp),
    labelled(words.write, write, words.writeHelp),
    labelled(words.networkLabel, network),
    listed,
    ticked(words.weaker, weaker, words.weakerHelp),
  );
  const show = () => {
    own.hidden = choice.value !== 'own';
    listed.hidden = network.value !== 'hosts';
  };
  choice.addEventListener('change', show);
  network.addEventListener('change', show);
  show();
  return {
    control: choice,
    element: h('div', {}, labelled(words.label, choice, words.help), own),
    value() {
      if (choice.value === 'off') return null;
      if (choice.value !== 'own') return choice.value;
      return {
        ...profile,
        read: given(read),
        write: given(write),
        network: network.value === 'hosts' ? { hosts: given(hosts) } : network.value,
        mayBeWeaker: weaker.checked,
      };
    },
  };
}

/** What a server's sandbox says, in lines; nothing without one. */
export function sandboxLines(server) {
  const profile = server.sandbox;
  if (!profile) return null;
  const { network, read, write } = profile;
  const all = (items) => items.map(plain).join(words.between);
  const rules = [
    read.length > 0 && words.reads(all(read)),
    write.length > 0 ? words.writes(all(write)) : words.writesNothing,
    typeof network === 'object' ? words.connects(all(network.hosts)) : words.networkIs[network],
  ];
  return [
    h('p', { class: 'quiet' }, words.inside(rules.filter(Boolean).join(words.betweenRules))),
    ...server.notContained.map((it) => h('p', { class: 'quiet small' }, words.notHere(plain(it)))),
  ];
}

function lines(items) {
  const control = h('textarea', { class: 'mono', rows: 2, spellcheck: 'false' });
  control.value = items.join('\n');
  kept.set(control, { items, shown: control.value });
  return control;
}

/** What was there, as long as it is not changed: lines cannot show every path. */
const kept = new WeakMap();

function given(control) {
  const { items, shown } = kept.get(control);
  if (control.value === shown) return items;
  return control.value
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
