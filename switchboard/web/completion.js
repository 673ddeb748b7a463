// What servers propose for the arguments of prompts and of templates of resources, while they are typed.

import { post } from './api.js';
import { fill, fresh, h } from './dom.js';
import { plain } from './format.js';

/** Completes the fields of a form; `about` names the prompt or the template. */
export function completeFields(form, path, about) {
  const inputs = form.fields
    .map(({ spec, element }) => [spec.name, element.querySelector('input')])
    .filter(([, input]) => input);
  for (const [name, input] of inputs) {
    const list = h('datalist', { id: fresh('proposals') });
    input.setAttribute('list', list.id);
    input.setAttribute('autocomplete', 'off');
    input.after(list);
    const others = () => {
      const known = inputs.filter(([other, { value }]) => other !== name && value !== '');
      return Object.fromEntries(known.map(([other, { value }]) => [other, value]));
    };
    const ask = lastOnly(async () => {
      const { values } = await post(`${path}/complete`, { ...about, argument: name, value: input.value, arguments: others() });
      // What is not what it seems is not proposed.
      fill(list, values.filter((it) => plain(it) === it).map((value) => h('option', { value })));
    });
    input.addEventListener('focus', ask);
    input.addEventListener('input', ask);
  }
}

/** Runs one after the other; of those that come meanwhile only the last. A failure proposes nothing. */
function lastOnly(action) {
  let running = false;
  let again = false;
  return async function run() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    await action().catch(() => {});
    running = false;
    if (!again) return;
    again = false;
    run();
  };
}
