// Prompts, resources and skills where one writes: `/` at the beginning lists prompts, `@` lists resources,
// their templates, and skills. A prompt's words are inserted; the others go with the message as files.

import { get } from './api.js';
import { fill, fresh, h } from './dom.js';
import { plain } from './format.js';
import { act, failed } from './notices.js';
import { usePrompt } from './prompts.js';
import { useResource } from './resources.js';
import { useSkill } from './skills.js';
import { text } from './text.js';

const t = text.picker;
/** As many are shown. */
const SHOWN = 50;
const PATTERNS = [
  ['prompts', /^\/(\S*)$/],
  ['resources', /(?:^|\s)@(\S*)$/],
];

export class ComposerPicker {
  constructor(composer) {
    this.composer = composer;
    this.input = composer.input;
    this.element = h('ul', { class: 'picker', role: 'listbox', id: fresh('picker'), 'aria-label': t.label, hidden: true });
    this.items = [];
    this.at = 0;
    this.kind = null;
    this.asked = 0;
    this.input.setAttribute('aria-autocomplete', 'list');
    this.input.addEventListener('input', () => this.look());
    this.input.addEventListener('blur', () => this.close());
    // Before the composer, which sends with Enter.
    this.input.addEventListener('keydown', (event) => this.key(event), true);
  }

  /** What is typed before the caret: the kind of picker, and the words. */
  typed() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    for (const [kind, pattern] of PATTERNS) {
      const found = pattern.exec(before);
      if (found) return { kind, words: found[1].toLowerCase(), from: before.length - found[1].length - 1, to: before.length };
    }
    return null;
  }

  async look() {
    const typed = this.typed();
    if (!typed) {
      this.close();
      return;
    }
    if (this.kind !== typed.kind) {
      this.close();
      this.kind = typed.kind;
      this.asked += 1;
      const mine = this.asked;
      try {
        const found = await (typed.kind === 'prompts' ? allPrompts() : allResources());
        if (mine !== this.asked) return;
        this.all = found;
      } catch (error) {
        failed(error);
        return;
      }
    }
    if (this.all) this.show(this.typed());
  }

  show(typed) {
    if (!typed) return;
    const fits = ({ name, title, server }) => `${name} ${title} ${server}`.toLowerCase().includes(typed.words);
    this.items = this.all.filter(fits).slice(0, SHOWN);
    this.at = 0;
    this.element.hidden = this.items.length === 0;
    fill(
      this.element,
      this.items.map((it, place) =>
        h(
          'li',
          {
            role: 'option',
            id: `${this.element.id}-${place}`,
            // The focus stays where one writes.
            onmousedown: (event) => event.preventDefault(),
            onclick: () => this.choose(it),
          },
          h('span', { class: 'mono' }, `${typed.kind === 'prompts' ? '/' : '@'}${plain(it.name)}`),
          h('span', { class: 'quiet cut grow' }, plain(it.title)),
          h('span', { class: 'quiet' }, plain(it.server)),
        ),
      ),
    );
    this.mark();
  }

  mark() {
    const open = !this.element.hidden;
    [...this.element.children].forEach((item, place) => {
      item.setAttribute('aria-selected', String(open && place === this.at));
      if (open && place === this.at) item.scrollIntoView({ block: 'nearest' });
    });
    if (open) {
      this.input.setAttribute('aria-controls', this.element.id);
      this.input.setAttribute('aria-activedescendant', `${this.element.id}-${this.at}`);
    } else {
      this.input.removeAttribute('aria-controls');
      this.input.removeAttribute('aria-activedescendant');
    }
  }

  key(event) {
    if (this.element.hidden || event.isComposing) return;
    const count = this.items.length;
    if (event.key === 'ArrowDown') this.at = (this.at + 1) % count;
    else if (event.key === 'ArrowUp') this.at = (this.at + count - 1) % count;
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') this.choose(this.items[this.at]);
    else if (event.key === 'Escape') this.close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.mark();
  }

  close() {
    this.kind = null;
    this.all = null;
    this.asked += 1;
    this.items = [];
    this.element.hidden = true;
    this.mark();
  }

  /** Takes what was typed away, and uses what was chosen. */
  choose(it) {
    const { composer, input } = this;
    const { kind, from, to } = this.typed() ?? { from: 0, to: 0 };
    this.close();
    const rest = `${input.value.slice(0, from)}${input.value.slice(to)}`;
    composer.suggest(rest);
    if (kind === 'prompts')
      act(null, () => usePrompt(it.path, it.name, (words) => composer.suggest([words, rest.trim()].filter(Boolean).join('\n\n'))));
    else {
      const attach = (files) => composer.files.add(files);
      act(null, () => (it.skill ? useSkill(it.path, it.skill, attach) : useResource(it.path, it.resource, attach)));
    }
  }
}

async function eachServer(ask) {
  const { items } = await get('mcp-servers');
  const active = items.filter(({ isActive, trust }) => isActive && trust !== 'pending');
  // One that cannot be asked does not keep the others back.
  const found = await Promise.all(active.map((server) => ask(`mcp-servers/${server.id}`, server.name).catch(() => [])));
  return found.flat();
}

function allPrompts() {
  return eachServer(async (path, server) => {
    const { items } = await get(`${path}/prompts`);
    return items.map(({ name, title, description }) => ({ path, server, name, title: title ?? description ?? '' }));
  });
}

function allResources() {
  return eachServer(async (path, server) => {
    const [{ items, templates }, skills] = await Promise.all([get(`${path}/resources`), get(`${path}/skills`)]);
    const resources = [...items, ...templates].map((resource) => ({
      path,
      server,
      resource,
      name: resource.name ?? resource.uri ?? resource.uriTemplate,
      title: resource.title ?? resource.uri ?? resource.uriTemplate,
    }));
    const named = skills.items.map((skill) => ({
      path,
      server,
      skill,
      name: skill.name ?? skill.uri,
      title: t.skill(skill.description ?? ''),
    }));
    return [...resources, ...named];
  });
}
