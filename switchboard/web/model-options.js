// How a model is asked to answer: the fields, in a chat and in an assistant.

import { h } from './dom.js';
import { labelled, numberIn, select } from './fields.js';
import { text } from './text.js';

const t = text.modelOptions;
const HOTTEST = 2;

/** The fields; `value()` is what the API takes, and `controls` are its members. */
export function modelOptions(old) {
  const temperature = h('input', { type: 'text', inputmode: 'decimal', value: old?.temperature ?? '', placeholder: t.usual });
  const effort = select([['', t.usual], ...Object.entries(t.efforts)], old?.effort ?? '');
  const most = h('input', { type: 'text', inputmode: 'numeric', value: old?.maxOutputTokens ?? '', placeholder: t.usual });
  return {
    fields: [
      labelled(t.temperature, temperature, t.temperatureHelp),
      labelled(t.effort, effort),
      labelled(t.most, most),
    ],
    controls: { 'modelOptions.temperature': temperature, 'modelOptions.maxOutputTokens': most },
    value() {
      const said = {
        temperature: numberIn(temperature, t.temperature, { max: HOTTEST }),
        effort: effort.value || null,
        maxOutputTokens: numberIn(most, t.most, { whole: true, min: 1 }),
      };
      const given = Object.entries(said).filter(([, value]) => value !== null);
      return given.length ? Object.fromEntries(given) : null;
    },
  };
}
