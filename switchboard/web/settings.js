// The user's settings: model, approvals, limits, how the page looks, data; and what was used so far.

import { get, put } from './api.js';
import { appearanceSection } from './appearance.js';
import { dataSection } from './data.js';
import { button, fill, h, icon } from './dom.js';
import { modelInput } from './chat-head.js';
import { formOf, labelled, numberIn, select } from './fields.js';
import { cached, count, money } from './format.js';
import { chooseModel, providerName } from './model-choose.js';
import { act, failed, notice } from './notices.js';
import { teamSections } from './team.js';
import { text } from './text.js';

const t = text.settings;
/** The maximum number of rounds. */
const MAX_ROUNDS = 2 ** 32 - 1;

export function settingsView() {
  const element = h('div', { class: 'view' }, h('p', { class: 'quiet' }, text.common.loading));
  load(element).catch(failed);
  return { title: text.page.places.settings, element };
}

async function load(element) {
  const [settings, models, used] = await Promise.all([get('settings'), get('models'), get('usage')]);
  const trouble = models.problem && h('div', { class: 'trouble' }, h('p', {}, models.problem));
  const again = () => load(element);
  fill(
    element,
    trouble,
    form(settings, models),
    appearanceSection(),
    providers(models, again),
    dataSection(),
    teamSections(),
    usageTable(used),
  );
}

/** The lines of a text that are not empty; `null` if there are none. */
function linesOf(content) {
  const lines = content.split('\n').map((line) => line.trim()).filter(Boolean);
  return lines.length ? lines : null;
}

function form(settings, models) {
  const model = modelInput(models, settings.model ?? '');
  const approve = select(Object.entries(t.modes), settings.approve ?? 'auto-read');
  const rounds = h('input', { type: 'text', inputmode: 'numeric', value: settings.max_rounds ?? '' });
  const cost = h('input', { type: 'text', inputmode: 'decimal', value: settings.max_cost ?? '' });
  const onLimit = select(Object.entries(t.onLimits), settings.on_limit ?? 'stop');
  const folders = h('textarea', { class: 'mono', rows: 2, spellcheck: 'false' });
  folders.value = (settings.roots ?? []).join('\n');
  const save = h('button', { type: 'submit', class: 'button primary' }, h('span', {}, text.common.save));
  return formOf({
    kind: 'form narrow',
    yes: save,
    buttons: save,
    controls: { model: model.element, approve, max_rounds: rounds, max_cost: cost, on_limit: onLimit, roots: folders },
    fields: [
      h('h2', {}, t.answers),
      labelled(
        t.model,
        model.element,
        t.modelHelp(models.current?.name ?? t.noModel),
      ),
      model.list,
      labelled(t.approvals, approve),
      labelled(t.rounds, rounds, t.roundsHelp),
      labelled(t.dollars, cost, t.dollarsHelp),
      labelled(t.onLimit, onLimit),
      labelled(t.folders, folders, t.foldersHelp),
    ],
    action: () =>
      put('settings', {
        model: model.value() || null,
        approve: approve.value,
        max_rounds: numberIn(rounds, t.roundsName, { whole: true, max: MAX_ROUNDS }),
        max_cost: numberIn(cost, t.dollarsName),
        on_limit: onLimit.value,
        roots: linesOf(folders.value),
      }),
    done: () => {
      notice(t.saved);
      dispatchEvent(new Event('settings-saved'));
    },
  });
}

function providers(models, again) {
  const forget = (name) => async () => {
    await put('settings', { [`providers.${name}.key`]: null });
    notice(text.providers.forgotten);
    await again();
  };
  const rows = models.providers
    .filter(({ demo }) => !demo)
    .map((it) => {
      const key = it.keyFound ? [icon('check'), ` ${text.providers.found}`] : it.local ? text.providers.local : text.providers.none;
      const label = it.keyFound ? text.providers.change : text.providers.set;
      const set = button(label, () => act(set, () => chooseModel({ provider: it.name, done: again })), {
        class: 'button small',
        'aria-label': text.providers.about(label, providerName(it.name)),
      });
      const drop =
        it.keyStored &&
        models.keysAllowed &&
        button(text.providers.forget, () => act(drop, forget(it.name)), {
          class: 'button small',
          'aria-label': text.providers.about(text.providers.forget, providerName(it.name)),
        });
      return h(
        'tr',
        {},
        h('td', {}, providerName(it.name), it.used && h('span', { class: 'badge good' }, text.providers.used)),
        h('td', { class: it.keyFound ? 'good' : 'quiet' }, key),
        h('td', { class: 'quiet mono small' }, it.keyNames.join(', ')),
        h('td', {}, h('div', { class: 'buttons' }, set, drop)),
      );
    });
  const choose = button(text.providers.add, () => act(choose, () => chooseModel({ done: again })), { class: 'button' });
  return h(
    'section',
    {},
    h('h2', {}, text.providers.title),
    h('p', { class: 'quiet' }, text.providers.lead),
    h('div', { class: 'buttons' }, choose),
    h('div', { class: 'wide' }, h('table', { class: 'rows providers' }, h('tbody', {}, rows))),
  );
}

function usageTable(used) {
  const items = used.models ?? [];
  if (!items.length)
    return h('section', {}, h('h2', {}, t.usage), h('p', { class: 'quiet' }, t.noUsage));
  const head = h(
    'tr',
    {},
    t.usageHeads.map((name) => h('th', { scope: 'col' }, name)),
  );
  const rows = items.map((it) =>
    h(
      'tr',
      {},
      h('td', {}, it.model),
      h('td', {}, count(it.rounds)),
      h('td', {}, count(it.input)),
      h('td', {}, cached(it)),
      h('td', {}, count(it.output)),
      h(
        'td',
        {},
        it.unpricedRounds
          ? it.costMicros
            ? text.format.atLeast(money(it.costMicros))
            : t.unknown
          : money(it.costMicros),
      ),
    ),
  );
  return h(
    'section',
    {},
    h('h2', {}, t.usage),
    h('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': t.usage }, h('table', { class: 'rows' }, h('thead', {}, head), h('tbody', {}, rows))),
  );
}
