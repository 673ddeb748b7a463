// What a tool gave back: text, JSON, pictures, sounds, links.

import { bytes } from './api.js';
import { button, fill, h, link } from './dom.js';
import { count, plain, plainLines, pretty } from './format.js';
import { codeBlock } from './prose.js';
import { act, failed } from './notices.js';
import { text } from './text.js';

const t = text.result;
/** Longer texts are shown in part until expanded. */
const SHOWN = 20_000;
const PICTURES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

/** All text of a result. */
export function plainText(response) {
  const blocks = contentOf(response);
  const texts = blocks.map((block) => {
    if (block.type === 'text') return block.text;
    if (block.type === 'resource') return block.resource?.text ?? block.resource?.uri ?? '';
    if (block.type === 'resource_link') return block.uri;
    return '';
  });
  const joined = texts.filter(Boolean).join('\n');
  if (joined || !response?.structuredContent) return joined;
  return JSON.stringify(response.structuredContent);
}

function contentOf(response) {
  return Array.isArray(response?.content) ? response.content : [];
}

export class ResultView {
  constructor(place) {
    this.place = place;
    this.media = h('div', { class: 'media' });
    this.urls = [];
    this.drawn = null;
  }

  /** Pictures and sounds stand beside the call; they are drawn once. */
  update({ response }) {
    if (!response || this.drawn) return;
    const found = contentOf(response).filter(({ type }) => type === 'image' || type === 'audio');
    this.drawn = true;
    for (const block of found) this.show(block).catch(failed);
  }

  async show(block) {
    const { mime, data } = await source(block, this.place);
    const url = URL.createObjectURL(new Blob([data], { type: mime }));
    this.urls.push(url);
    if (block.type === 'audio')
      this.media.append(h('audio', { controls: true, src: url, 'aria-label': t.sound }));
    else if (PICTURES.test(mime))
      this.media.append(
        h('img', {
          src: url,
          alt: t.picture,
          onload: () => this.media.dispatchEvent(new Event('grown', { bubbles: true })),
        }),
      );
    else this.media.append(h('a', { href: url, download: t.pictureFile, class: 'button small' }, t.saveKind(mime)));
  }

  /** The text parts, as elements. */
  text(call) {
    const { response } = call;
    const parts = contentOf(response).map((block) => part(block));
    if (response.structuredContent !== undefined)
      parts.push(codeBlock(pretty(response.structuredContent), t.structured));
    if (call.resultBlob) {
      const path = `${this.place.path}/blobs/${call.resultBlob}`;
      const save = button(t.saveWhole, () => act(save, () => saveResult(path, call.toolName)), {
        class: 'button small',
      });
      parts.push(save);
    }
    return h('div', { class: 'result' }, parts);
  }

  leave() {
    for (const url of this.urls) URL.revokeObjectURL(url);
  }
}

async function source(block, place) {
  const reference = block.blob ?? block.data?.blob;
  const mime = block.mimeType ?? block.mime ?? block.data?.mime ?? 'application/octet-stream';
  if (reference) return { mime, data: await bytes(`${place.path}/blobs/${reference}`) };
  return { mime, data: Uint8Array.from(atob(block.data ?? ''), (sign) => sign.charCodeAt(0)) };
}

function part(block) {
  switch (block.type) {
    case 'text':
      return textBlock(block.text);
    case 'resource':
      return block.resource?.text === undefined
        ? h('p', { class: 'quiet' }, `${plain(block.resource?.uri)} (${plain(block.resource?.mimeType ?? t.bytes)})`)
        : [h('p', { class: 'quiet' }, plain(block.resource.uri)), textBlock(block.resource.text)];
    case 'resource_link':
      return h(
        'p',
        {},
        /^https?:/.test(block.uri)
          ? link(block.uri, plain(block.title ?? block.name ?? block.uri), {
              target: '_blank',
              rel: 'noopener noreferrer nofollow',
            })
          : `${plain(block.name)} ${plain(block.uri)}`,
      );
    case 'image':
    case 'audio':
      return null;
    default:
      return codeBlock(pretty(block), 'json');
  }
}

/** Text as it is; JSON laid out; a very long text in part. */
export function textBlock(given) {
  const json = asJson(given);
  if (json !== null) return codeBlock(pretty(json), 'json');
  if (given.length <= SHOWN) return codeBlock(plainLines(given), '');
  const whole = h('div', {}, codeBlock(plainLines(given.slice(0, SHOWN)), ''));
  whole.append(
    button(t.showAll(count(given.length)), () => fill(whole, codeBlock(plainLines(given), '')), {
      class: 'button small',
    }),
  );
  return whole;
}

function asJson(given) {
  if (given.length > SHOWN || !/^\s*[[{]/.test(given)) return null;
  try {
    return JSON.parse(given);
  } catch {
    return null;
  }
}

/** Saves a whole result as a file: text as text, anything else as JSON. */
async function saveResult(path, tool) {
  const whole = await bytes(path);
  saveFile(whole, `${tool || t.file}.${whole.type.startsWith('text/') ? 'txt' : 'json'}`);
}

/** Saves what an address holds as a file. */
export async function download(path, name) {
  saveFile(await bytes(path), name);
}

/** Saves a blob as a file. */
export function saveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
