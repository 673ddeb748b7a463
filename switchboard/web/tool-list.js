// The tools of a server: on and off, ask, run or never run, and everything about each.

import { get, patch, post } from './api.js';
import { button, fill, fresh, h, icon, say } from './dom.js';
import { labelled, select } from './fields.js';
import { SchemaForm } from './form.js';
import { count, pretty, span } from './format.js';
import { act, failed } from './notices.js';
import { codeBlock } from './prose.js';
import { ResultView } from './result.js';

const APPROVALS = [
  ['ask', 'Ask'],
  ['auto', 'Run'],
  ['deny', 'Never'],
];
const PROVIDERS = [
  ['openai', 'OpenAI, Chat'],
  ['openai-responses', 'OpenAI, Responses'],
  ['anthropic', 'Anthropic'],
  ['gemini', 'Gemini'],
  ['vertex', 'Gemini, Vertex'],
];

export class ToolList {
  constructor(path, list) {
    this.path = path;
    this.rows = new Map();
    this.sum = h('p', { class: 'quiet' });
    this.search = h('input', {
      type: 'search',
      placeholder: 'Find a tool',
      'aria-label': 'Find a tool',
      oninput: () => this.filter(),
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
    say(this.cut, incomplete ? `Not all of this server’s tools are here: ${incomplete}.` : '');
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
    this.search.hidden = tools.length < 8;
    this.tell();
  }

  tell() {
    const on = [...this.rows.values()].map(({ tool }) => tool).filter(({ enabled }) => enabled);
    const tokens = on.reduce((all, tool) => all + (tool.tokens ?? 0), 0);
    say(
      this.sum,
      this.rows.size
        ? `${on.length} of ${this.rows.size} tools on · about ${count(tokens)} tokens to describe them all`
        : 'This server offers no tools.',
    );
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase();
    for (const { element, tool } of this.rows.values()) {
      element.hidden = !`${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`
        .toLowerCase()
        .includes(wanted);
    }
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
    this.approval = select(APPROVALS, 'ask', { class: 'small' });
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
    say(this.name, tool.title ? `${tool.title} (${tool.name})` : tool.name);
    say(this.about, (tool.description ?? '').split('\n', 1)[0]);
    fill(this.marks, marks(tool));
    this.switch.checked = tool.enabled;
    this.switch.setAttribute('aria-label', `Offer ${tool.name} to models`);
    this.approval.value = tool.approval;
    this.approval.setAttribute('aria-label', `What happens when ${tool.name} is called`);
    this.approval.disabled = !tool.enabled;
    this.element.classList.toggle('off', !tool.enabled);
  }

  async save(control, fields) {
    await act(control, async () => {
      try {
        this.update(await patch(`${this.path}/tools/${encodeURIComponent(this.tool.name)}`, fields));
      } catch (error) {
        this.update(this.tool);
        throw error;
      }
    });
    this.approval.disabled = !this.tool.enabled;
    this.changed();
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
    const provider = select([['', 'Choose a provider'], ...PROVIDERS], '');
    provider.addEventListener('change', () => this.show(provider.value, seen).catch(failed));
    fill(
      this.body,
      tool.description?.includes('\n') && h('p', { class: 'whole' }, tool.description),
      h('details', {}, h('summary', {}, 'Try it'), this.tryIt()),
      h('details', {}, h('summary', {}, 'Schema'), codeBlock(pretty(tool.inputSchema), 'json')),
      h('details', {}, h('summary', {}, 'What a model will see'), labelled('Provider', provider), seen),
    );
  }

  tryIt() {
    const form = new SchemaForm(this.tool.inputSchema ?? {});
    const shown = h('div', { class: 'tried', role: 'status' });
    const run = h(
      'button',
      { type: 'submit', class: 'button small primary' },
      icon('play'),
      h('span', {}, 'Run'),
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
            isError ? 'It failed' : 'It answered',
            h('span', { class: 'quiet' }, ` in ${span(tookMs)}`),
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
      h('li', {}, h('code', {}, `#${pointer}`), ` ${keyword}: ${action}${lossy ? '' : ', nothing lost'}`),
    );
    fill(
      place,
      seen.leftOut && h('p', { class: 'problem' }, `It is left out: ${seen.leftOut}`),
      codeBlock(pretty(seen.definitions), 'json'),
      lines.length
        ? [h('h3', {}, 'What changes on the way'), h('ul', { class: 'losses' }, lines)]
        : h('p', { class: 'good' }, 'Nothing is lost on the way.'),
    );
  }
}

/** A tool's annotations. */
function marks({ annotations = {}, tokens, quarantined, approval }) {
  const hints = annotations ?? {};
  const found = [];
  if (hints.readOnlyHint === true) found.push(['reads', 'good']);
  else
    found.push([
      hints.destructiveHint === false ? 'changes' : 'may destroy',
      hints.destructiveHint === false ? '' : 'warn',
    ]);
  if (hints.openWorldHint === true) found.push(['reaches out', '']);
  if (quarantined && Object.keys(quarantined).length) found.push(['set aside', 'bad']);
  const shown = found.map(([text, kind]) => h('span', { class: `badge ${kind}` }, text));
  if (approval === 'deny') shown.push(h('span', { class: 'badge bad' }, 'never runs'));
  if (tokens) shown.push(h('span', { class: 'quiet small' }, `${count(tokens)} tokens`));
  return shown;
}
