// The user's defaults: model, approvals, limits; and what was used so far.

import { get, put } from './api.js';
import { fill, h, icon } from './dom.js';
import { MODES, ON_LIMIT, modelInput } from './chat-head.js';
import { formOf, labelled, numberIn, select } from './fields.js';
import { count, money } from './format.js';
import { failed, notice } from './notices.js';

/** The maximum number of rounds. */
const MAX_ROUNDS = 2 ** 32 - 1;

export function settingsView() {
  const element = h('div', { class: 'view' }, h('p', { class: 'quiet' }, 'Loading…'));
  load(element).catch(failed);
  return { title: 'Settings', element };
}

async function load(element) {
  const [settings, models, used] = await Promise.all([get('settings'), get('models'), get('usage')]);
  const trouble = models.problem && h('div', { class: 'trouble' }, h('p', {}, models.problem));
  fill(element, trouble, form(settings, models), providers(models), usageTable(used));
}

function form(settings, models) {
  const model = modelInput(models, settings.model ?? '');
  const approve = select(MODES, settings.approve ?? 'auto-read');
  const rounds = h('input', { type: 'text', inputmode: 'numeric', value: settings.max_rounds ?? '' });
  const cost = h('input', { type: 'text', inputmode: 'decimal', value: settings.max_cost ?? '' });
  const onLimit = select(ON_LIMIT, settings.on_limit ?? 'stop');
  const save = h('button', { type: 'submit', class: 'button primary' }, h('span', {}, 'Save'));
  return formOf({
    kind: 'form narrow',
    yes: save,
    buttons: save,
    controls: { model: model.element, approve, max_rounds: rounds, max_cost: cost, on_limit: onLimit },
    fields: [
      h('h2', {}, 'For new answers'),
      labelled(
        'Model',
        model.element,
        `Empty: whatever is found, now ${models.current?.name ?? 'none'}. Names are like anthropic/claude-sonnet-5, gpt-5 or demo.`,
      ),
      model.list,
      labelled('Approvals', approve),
      labelled(
        'Rounds an answer may take',
        rounds,
        'Maximum number of model requests per answer. 0: no limit. Empty: the default.',
      ),
      labelled('Dollars an answer may cost', cost, 'For example 0.50. Empty: no limit.'),
      labelled('At a limit', onLimit),
    ],
    action: () =>
      put('settings', {
        model: model.value() || null,
        approve: approve.value,
        max_rounds: numberIn(rounds, 'Rounds', { whole: true, max: MAX_ROUNDS }),
        max_cost: numberIn(cost, 'Dollars'),
        on_limit: onLimit.value,
      }),
    done: () => {
      notice('Saved. The next answer uses it.');
      dispatchEvent(new Event('settings-saved'));
    },
  });
}

function providers({ providers: all }) {
  const rows = all
    .filter(({ demo }) => !demo)
    .map((it) => {
      const key = it.keyFound ? [icon('check'), ' key found'] : it.local ? 'needs no key' : 'no key';
      return h(
        'tr',
        {},
        h('td', {}, it.name, it.used && h('span', { class: 'badge good' }, 'in use')),
        h('td', { class: it.keyFound ? 'good' : 'quiet' }, key),
        h('td', { class: 'quiet mono small' }, it.keyNames.join(', ')),
      );
    });
  return h(
    'section',
    {},
    h('h2', {}, 'Providers'),
    h(
      'p',
      { class: 'quiet' },
      'Keys come from the environment or the system’s keyring (',
      h('code', {}, 'switchboard model set NAME --ask-key'),
      '); this page never sees them.',
    ),
    h('div', { class: 'wide' }, h('table', { class: 'rows' }, h('tbody', {}, rows))),
  );
}

function usageTable(used) {
  const items = used.models ?? [];
  if (!items.length)
    return h('section', {}, h('h2', {}, 'Usage'), h('p', { class: 'quiet' }, 'No usage yet.'));
  const head = h(
    'tr',
    {},
    ['Model', 'Rounds', 'Tokens in', 'Tokens out', 'Cost'].map((text) => h('th', { scope: 'col' }, text)),
  );
  const rows = items.map((it) =>
    h(
      'tr',
      {},
      h('td', {}, it.model),
      h('td', {}, count(it.rounds)),
      h('td', {}, count(it.input)),
      h('td', {}, count(it.output)),
      h(
        'td',
        {},
        it.unpricedRounds
          ? it.costMicros
            ? `at least ${money(it.costMicros)}`
            : 'unknown'
          : money(it.costMicros),
      ),
    ),
  );
  return h(
    'section',
    {},
    h('h2', {}, 'Usage'),
    h('div', { class: 'wide' }, h('table', { class: 'rows' }, h('thead', {}, head), h('tbody', {}, rows))),
  );
}
