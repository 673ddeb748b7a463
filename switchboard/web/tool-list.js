// The tools of a server: on and off, ask, run or never run, and everything about each.

import { get, patch, post } from './api.js';
import { fill, fresh, h, icon, say } from './dom.js';
import { labelled, select } from './fields.js';
import { SchemaForm } from './form.js';
import { count, plain, plainLines, pretty, span, spelt } from './format.js';
import { act, failed } from './notices.js';
import { codeBlock } from './prose.js';
import { ResultView } from './result.js';
import { text } from './text.js';
import { hintBadges } from './tool-facts.js';

const t = text.tools;
const PROVIDERS = [
  ['openai', 'OpenAI, Chat'],
  ['openai-responses', 'OpenAI, Responses'],
  ['anthropic', 'Anthropic'],
  ['gemini', 'Gemini'],
  ['vertex', 'Gemini, Vertex'],
];

export class ToolList {
  /** With `search: false` it is filtered from outside. */
  constructor(path, list, { search = true } = {}) {
    this.path = path;
    this.searchable = search;
    this.rows = new Map();
    this.sum = h('p', { class: 'quiet' });
    this.search = h('input', {
      type: 'search',
      placeholder: t.find,
      'aria-label': t.find,
      oninput: () => this.filter(this.search.value),
    });
    this.cut = h('p', { class: 'warning', hidden: true });
    this.list = h('ul', { class: 'lines tools' });
    this.element = h(
      'div',
      {},
      h('div', { class: 'card-head tools-head' }, this.sum, this.search),
      this.cut,
      this.list,
    );
    this.update(list);
  }

  /** `incomplete` says why the server offers more than these. */
  update({ items: tools, incomplete }) {
    this.tools = tools;
    this.cut.hidden = !incomplete;
    say(this.cut, incomplete ? t.cut(plainLines(incomplete)) : '');
    const kept = new Set(tools.map(({ name }) => name));
    for (const [name, row] of this.rows) {
      if (kept.has(name)) continue;
      row.element.remove();
      this.rows.delete(name);
    }
    for (const tool of tools) {
      const row = this.rows.get(tool.name) ?? new ToolRow(this.path, () => this.tell());
      this.rows.set(tool.name, row);
      row.update(tool);
      if (!row.element.isConnected) this.list.append(row.element);
    }
    this.search.hidden = !this.searchable || tools.length < 8;
    this.tell();
  }

  tell() {
    const on = [...this.rows.values()].map(({ tool }) => tool).filter(({ enabled }) => enabled);
    const tokens = on.reduce((all, tool) => all + (tool.tokens ?? 0), 0);
    say(
      this.sum,
      this.rows.size
        ? t.sum(on.length, this.rows.size, count(tokens))
        : t.empty,
    );
  }

  /** Shows the tools that have all these words; returns how many. */
  filter(given) {
    const words = given.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of this.rows.values()) {
      const fits = words.every((word) => row.words.includes(word));
      row.element.hidden = !fits;
      shown += fits;
    }
    return shown;
  }

  /** Switches every tool that is shown: one change of the server. */
  async turn(enabled) {
    const shown = [...this.rows.values()].filter(({ element }) => !element.hidden);
    const names = shown.filter(({ tool }) => tool.enabled !== enabled).map(({ tool }) => tool.name);
    if (!names.length) return;
    const { items } = await patch(`${this.path}/tools`, { names, enabled });
    for (const tool of items) this.rows.get(tool.name)?.update(tool);
    this.tell();
  }
}

class ToolRow {
  constructor(path, changed) {
    this.path = path;
    this.changed = changed;
    const id = fresh('tool');
    this.name = h('span', { class: 'tool-name' });
    this.marks = h('span', { class: 'marks' });
    this.about = h('p', { class: 'quiet tool-about' });
    this.head = h(
      'button',
      {
        type: 'button',
        class: 'tool-open',
        'aria-expanded': 'false',
        'aria-controls': id,
        onclick: () => this.toggle(),
      },
      icon('chevron'),
      this.name,
    );
    this.switch = h('input', { type: 'checkbox', role: 'switch', class: 'switch' });
    this.switch.addEventListener('change', () => this.save(this.switch, { enabled: this.switch.checked }));
    this.approval = select(Object.entries(t.approvals), 'ask', { class: 'small' });
    this.approval.addEventListener('change', () =>
      this.save(this.approval, { approval: this.approval.value, hash: this.tool.hash }),
    );
    this.body = h('div', { class: 'tool-body', id, hidden: true });
    this.element = h(
      'li',
      { class: 'line tool' },
      h('div', { class: 'tool-head' }, this.head, this.marks, this.approval, this.switch),
      this.about,
      this.body,
    );
  }

  update(tool) {
    this.tool = tool;
    this.words = `${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`.toLowerCase();
    const name = plain(tool.name);
    say(this.name, tool.title ? `${plain(tool.title)} (${name})` : name);
    say(this.about, plain((tool.description ?? '').split('\n', 1)[0]));
    fill(this.marks, marks(tool));
    this.switch.checked = tool.enabled;
    this.switch.setAttribute('aria-label', t.offer(name));
    this.approval.value = tool.approval;
    this.approval.setAttribute('aria-label', t.when(name));
    this.approval.disabled = !tool.enabled;
    this.element.classList.toggle('off', !tool.enabled);
  }

  async save(control, fields) {
    await act(control, () => this.change(fields));
    this.approval.disabled = !this.tool.enabled;
  }

  /** Saves; what is shown is what is saved. */
  async change(fields) {
    try {
      this.update(await patch(`${this.path}/tools/${encodeURIComponent(this.tool.name)}`, fields));
    } catch (error) {
      this.update(error.details?.tool ?? this.tool);
      throw error;
    } finally {
      this.changed();
    }
  }

  toggle() {
    const open = this.body.hidden;
    this.body.hidden = !open;
    this.head.setAttribute('aria-expanded', String(open));
    if (open && !this.body.firstChild) this.draw();
  }

  draw() {
    const { tool } = this;
    const seen = h('div', { class: 'seen' });
    const provider = select([['', t.chooseProvider], ...PROVIDERS], '');
    provider.addEventListener('change', () => this.show(provider.value, seen).catch(failed));
    fill(
      this.body,
      tool.findings &&
        h(
          'ul',
          { class: 'findings' },
          tool.findings.map((it) => h('li', { class: 'problem' }, finding(it))),
        ),
      tool.description?.includes('\n') && h('p', { class: 'whole' }, plainLines(tool.description)),
      h('details', {}, h('summary', {}, t.tryIt), this.tryIt()),
      h('details', {}, h('summary', {}, t.schema), codeBlock(pretty(tool.inputSchema), 'json')),
      h('details', {}, h('summary', {}, t.seen), labelled(t.provider, provider), seen),
    );
  }

  tryIt() {
    const form = new SchemaForm(this.tool.inputSchema ?? {});
    const shown = h('div', { class: 'tried', role: 'status' });
    const run = h(
      'button',
      { type: 'submit', class: 'button small primary' },
      icon('play'),
      h('span', {}, t.run),
    );
    const whole = h(
      'form',
      { class: 'form', novalidate: true },
      form.element,
      h('div', { class: 'buttons' }, run),
      shown,
    );
    whole.addEventListener('submit', (event) => {
      event.preventDefault();
      const values = form.collect();
      if (!values) return;
      act(run, async () => {
        const { result, isError, tookMs } = await post(
          `${this.path}/tools/${encodeURIComponent(this.tool.name)}/call`,
          { arguments: values },
        );
        const view = new ResultView({ path: '' });
        const call = { response: result };
        view.update(call);
        fill(
          shown,
          h(
            'p',
            { class: isError ? 'bad' : 'good' },
            isError ? t.failed(span(tookMs)) : t.worked(span(tookMs)),
          ),
          view.media,
          view.text(call),
        );
      });
    });
    return whole;
  }

  async show(provider, place) {
    if (!provider) {
      fill(place);
      return;
    }
    const seen = await get(`${this.path}/tools/${encodeURIComponent(this.tool.name)}/schema?for=${provider}`);
    const lines = seen.losses.map(({ pointer, keyword, action, lossy }) =>
      h('li', {}, h('code', {}, plain(`#${pointer}`)), ` ${plain(keyword)}: ${plain(action)}${lossy ? '' : ` · ${t.lossless}`}`),
    );
    fill(
      place,
      seen.leftOut && h('p', { class: 'problem' }, t.leftOut(plainLines(seen.leftOut))),
      codeBlock(pretty(seen.definitions), 'json'),
      lines.length
        ? [h('h3', {}, t.losses), h('ul', { class: 'losses' }, lines)]
        : h('p', { class: 'good' }, t.noLosses),
    );
  }
}

function finding({ explanation, rule, place, evidence }) {
  return text.scan.finding(spelt(explanation ?? rule), plain([rule, place].filter(Boolean).join(', ')), spelt(evidence));
}

/** A tool's annotations, and what else is to be known at a glance. */
function marks(tool) {
  const shown = hintBadges(tool);
  const badge = (words) => h('span', { class: 'badge bad' }, words);
  if (tool.quarantined && Object.keys(tool.quarantined).length) shown.push(badge(t.aside));
  const grave = (tool.findings ?? []).some(({ severity }) => severity !== 'low');
  if (grave) shown.push(badge(text.scan.mark));
  if (tool.approval === 'deny') shown.push(badge(t.never));
  if (tool.tokens) shown.push(h('span', { class: 'quiet small' }, t.tokens(count(tool.tokens))));
  return shown;
}
