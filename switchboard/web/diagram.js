// Mermaid code as a picture. The library is large and obeys what it reads, so it runs in a sandboxed
// frame that is made when there is a diagram; what it answers is shown as an image, in which nothing
// runs. Code that it cannot draw stays code, with the reason.

import { button, h } from './dom.js';
import { isDark, onTheme } from './theme.js';
import { text } from './text.js';

const t = text.prose;
/** Longer code and larger pictures are not drawn. */
const LONGEST = 20_000;
const LARGEST = 2_000_000;
/** A frame that takes longer than this is ended, and with it what keeps it busy. */
const TIMEOUT = 20_000;
/** How many pictures are kept for a chat that is drawn anew. */
const KEPT = 30;

const sources = new WeakMap();
const pictures = new Map();
let frame = null;
let number = 0;
/** The frame draws one picture after the other. */
let queue = Promise.resolve();

/** Draws a block of Mermaid code, which has ended. */
export async function illustrate(block, code) {
  sources.set(block, code);
  block.classList.add('diagram');
  try {
    const svg = await picture(code, isDark() ? 'dark' : 'default');
    if (sources.get(block) === code) await show(block, svg);
  } catch (error) {
    if (sources.get(block) === code) refuse(block, error);
  }
}

onTheme(() => {
  for (const block of document.querySelectorAll('.diagram')) illustrate(block, sources.get(block));
});

async function show(block, svg) {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  const image = h('img', { src: url, alt: t.diagram });
  try {
    await image.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
  const before = block.querySelector('img');
  if (before) {
    before.replaceWith(image);
    return;
  }
  const source = block.querySelector('pre');
  source.hidden = true;
  const toggle = button(t.showCode, () => {
    source.hidden = !source.hidden;
    toggle.querySelector('span').textContent = source.hidden ? t.showCode : t.hideCode;
    toggle.setAttribute('aria-expanded', String(!source.hidden));
  }, { class: 'copy', 'aria-expanded': 'false' });
  block.querySelector('.code-bar').lastElementChild.before(toggle);
  block.append(h('div', { class: 'picture', tabindex: '0', role: 'group', 'aria-label': t.diagram }, image));
  block.dispatchEvent(new Event('grown', { bubbles: true }));
}

function refuse(block, error) {
  const label = block.querySelector('.code-bar').firstElementChild;
  label.textContent = t.notDrawn;
  label.title = error.message;
}

/** The picture of this code, as SVG. */
function picture(code, theme) {
  const key = `${theme}\n${code}`;
  const kept = pictures.get(key);
  if (kept) return kept;
  const drawn = queue.then(() => draw(code, theme));
  queue = drawn.catch(() => {});
  pictures.set(key, drawn);
  if (pictures.size > KEPT) pictures.delete(pictures.keys().next().value);
  return drawn;
}

async function draw(code, theme) {
  if (code.length > LONGEST) throw new Error(t.diagramTooLong);
  try {
    await open();
    number += 1;
    const answer = reply(({ id }) => id === number);
    frame.contentWindow.postMessage({ id: number, code, theme }, '*');
    const { svg, error } = await answer;
    if (typeof svg === 'string' && svg.length <= LARGEST) return svg;
    throw new Error(error ? String(error).slice(0, 500) : t.diagramTooLong);
  } catch (error) {
    if (error.name === 'TimeoutError') close();
    throw error;
  }
}

/** The frame, once it can draw. */
async function open() {
  if (frame) return;
  const library = await load();
  frame = h('iframe', {
    sandbox: 'allow-scripts',
    src: new URL('./diagram-frame.html', import.meta.url).href,
    class: 'drawing-frame',
    title: t.diagram,
    'aria-hidden': 'true',
    tabindex: '-1',
  });
  const loaded = new Promise((resolve) => {
    frame.addEventListener('load', resolve, { once: true });
  });
  document.body.append(frame);
  await loaded;
  const ready = reply((data) => data.ready === true || data.error);
  frame.contentWindow.postMessage({ library }, '*');
  await ready;
}

/** The library, which the frame cannot load by itself. */
async function load() {
  const response = await fetch(new URL('./vendor/mermaid.js', import.meta.url));
  if (!response.ok) throw new Error(t.notDrawn);
  return response.text();
}

function close() {
  frame?.remove();
  frame = null;
}

/** The next message of the frame that is `wanted`. */
function reply(wanted) {
  return new Promise((resolve, reject) => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      ended.abort();
      reject(new DOMException(t.diagramTooLong, 'TimeoutError'));
    }, TIMEOUT);
    const listen = ({ source, data }) => {
      if (source !== frame?.contentWindow || !wanted(data ?? {})) return;
      clearTimeout(timer);
      ended.abort();
      resolve(data);
    };
    addEventListener('message', listen, { signal: ended.signal });
  });
}
