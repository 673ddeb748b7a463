// Formulas as MathML, drawn by the library once there is one to draw. Until then, and where the library
// cannot read it, a formula stays as it was written.

import { h } from './dom.js';

/** Longer formulas stay text. */
const LONGEST = 10_000;
const OPTIONS = { throwOnError: true, trust: false, maxExpand: 500, maxSize: [20, 20], wrap: 'none' };

let library = null;
let draw = null;

/** A formula; `source` is what was written, with its signs. */
export function formula({ tex, source, display }) {
  const place = h(display ? 'div' : 'span', { class: display ? 'math-block' : 'math' }, source);
  if (tex.length > LONGEST) return place;
  if (draw) show(place, tex, display);
  else load().then(() => show(place, tex, display), () => {});
  return place;
}

async function load() {
  library ??= import('./vendor/temml.js');
  const { default: temml } = await library;
  draw = (tex, element, display) => temml.render(tex, element, { ...OPTIONS, displayMode: display });
}

function show(place, tex, display) {
  const drawn = h('span');
  try {
    draw(tex, drawn, display);
  } catch {
    return;
  }
  place.replaceChildren(...drawn.childNodes);
  if (display) {
    place.tabIndex = 0;
    place.setAttribute('role', 'group');
  }
  place.dispatchEvent(new Event('grown', { bubbles: true }));
}
