// A server's resources, and the templates that make more of them.

import { get } from './api.js';
import { completeFields } from './completion.js';
import { openForm } from './dialog.js';
import { button, fill, h } from './dom.js';
import { SchemaForm } from './form.js';
import { plain, plainLines } from './format.js';
import { act } from './notices.js';
import { textBlock } from './result.js';
import { text } from './text.js';
import { expanded, variablesOf } from './uri-template.js';

const t = text.server;

/** The tab of a server with all its resources and templates. */
export async function resources(path, place) {
  fill(place, h('p', { class: 'quiet' }, text.common.asking));
  const { items, templates } = await get(`${path}/resources`);
  if (!items.length && !templates.length) {
    fill(place, h('p', { class: 'quiet' }, t.noResources));
    return;
  }
  fill(
    place,
    items.length > 0 && h('ul', { class: 'lines' }, items.map((it) => row(path, it, it.uri, () => it.uri))),
    templates.length > 0 && [
      h('h2', {}, t.templates),
      h('ul', { class: 'lines' }, templates.map((it) => template(path, it))),
    ],
  );
}

/** The variables of a template, as fields. */
function formOf(path, { uriTemplate }) {
  const properties = variablesOf(uriTemplate).map((name) => [name, { type: 'string' }]);
  const form = new SchemaForm({ properties: Object.fromEntries(properties) });
  completeFields(form, path, { template: uriTemplate });
  return form;
}

/**
 * Reads a resource, or one of a template after its variables were asked for in a dialog, and gives it
 * to `attach` as files.
 */
export async function useResource(path, it, attach) {
  const title = plain(it.title ?? it.name ?? it.uri ?? it.uriTemplate);
  const use = async (uri) => attach((await contentsOf(path, uri)).map((part, place) => fileOf(part, it, place)));
  if (it.uri) {
    await use(it.uri);
    return;
  }
  const form = formOf(path, it);
  const about = h('p', { class: 'mono quiet whole-line' }, plain(it.uriTemplate));
  openForm(title, [about, form.element], t.attach, async () => {
    const values = form.collect();
    if (!values) return false;
    await use(expanded(it.uriTemplate, values));
    return true;
  });
}

async function contentsOf(path, uri) {
  const { contents = [] } = await get(`${path}/resources/read?uri=${encodeURIComponent(uri)}`);
  return contents;
}

/** A part of a resource as a file, named after where it is. */
function fileOf({ uri, text: words, blob, mimeType }, it, place) {
  const address = plain(uri ?? it.uri ?? '');
  const last = address.split(/[?#]/, 1)[0].split('/').filter(Boolean).at(-1);
  const name = last ?? plain(it.name ?? `resource-${place + 1}`);
  const bytes = blob === undefined ? (words ?? '') : Uint8Array.from(atob(blob), (sign) => sign.charCodeAt(0));
  return new File([bytes], name, { type: mimeType ?? '' });
}

function template(path, it) {
  const form = formOf(path, it);
  const address = () => {
    const values = form.collect();
    return values && expanded(it.uriTemplate, values);
  };
  return row(path, it, it.uriTemplate, address, form.element);
}

/** What there is to read; `address()` says where, or nothing if that is not known yet. */
function row(path, it, shownAddress, address, form = null) {
  const shown = h('div', {});
  const read = button(
    t.read,
    () =>
      act(read, async () => {
        const uri = address();
        if (!uri) return;
        const contents = await contentsOf(path, uri);
        const part = (content) =>
          content.text === undefined
            ? h('p', { class: 'quiet' }, t.bytes(plain(content.mimeType ?? text.result.bytes)))
            : textBlock(content.text);
        fill(shown, contents.map(part));
      }),
    { class: 'button small', 'aria-label': t.readLabel(plain(it.name ?? shownAddress)) },
  );
  return h(
    'li',
    { class: 'line' },
    h(
      'div',
      { class: 'card-head' },
      h('strong', {}, plain(it.title ?? it.name ?? shownAddress)),
      h('span', { class: 'mono cut grow quiet' }, plain(shownAddress)),
      read,
    ),
    it.description && h('p', { class: 'quiet' }, plainLines(it.description)),
    form,
    shown,
  );
}
