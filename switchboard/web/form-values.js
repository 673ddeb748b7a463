// Forms from JSON Schema: which fields there are, what was typed in them, and whether it fits. Pure.

import { plain, plainLines } from './format.js';
import { text } from './text.js';

const t = text.form;

/** The fields of an object schema: `{name, kind, label, help, required, initial, choices?, …}`. */
export function fieldsOf(schema) {
  const required = new Set(Array.isArray(schema?.required) ? schema.required : []);
  return Object.entries(schema?.properties ?? {}).map(([name, raw]) => {
    const field = raw && typeof raw === 'object' ? raw : {};
    const shape = shapeOf(field);
    return {
      name,
      label: plain(typeof field.title === 'string' ? field.title : name),
      help: typeof field.description === 'string' ? plainLines(field.description) : '',
      required: required.has(name),
      initial: field.default,
      schema: field,
      ...shape,
    };
  });
}

function shapeOf(field) {
  const single = choices(field);
  if (single) return { kind: 'one', choices: single };
  const type = Array.isArray(field.type) ? field.type.find((it) => it !== 'null') : field.type;
  if (type === 'array') {
    const many = choices(field.items ?? {});
    return many ? { kind: 'many', choices: many } : { kind: 'json' };
  }
  if (type === 'boolean') return { kind: 'yes-no' };
  if (type === 'number' || type === 'integer') return { kind: type };
  if (type === 'string') return { kind: 'text', input: INPUTS[field.format] ?? 'text' };
  return { kind: 'json' };
}

const INPUTS = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' };

function choices(field) {
  if (!field || typeof field !== 'object') return null;
  const titled = field.oneOf ?? field.anyOf;
  if (Array.isArray(titled) && titled.length && titled.every((it) => it && 'const' in it)) {
    return titled.map((it) => ({ value: it.const, label: plain(it.title ?? it.const) }));
  }
  if ('const' in field) return [{ value: field.const, label: plain(field.const) }];
  if (!Array.isArray(field.enum)) return null;
  const names = Array.isArray(field.enumNames) ? field.enumNames : [];
  return field.enum.map((value, place) => ({ value, label: plain(names[place] ?? value) }));
}

/**
 * What was typed, as a value: `{value}`, `{missing: true}` for nothing, or `{problem}`.
 * `raw` is text; for `yes-no` a boolean; for `one` the choice's number or ''; for `many` numbers.
 */
export function read(field, raw) {
  const found = value(field, raw);
  if (found.problem) return found;
  if (found.missing) return field.required ? { problem: t.needed(field.label) } : found;
  const problem = check(field, found.value);
  return problem ? { problem } : found;
}

function value(field, raw) {
  switch (field.kind) {
    case 'yes-no':
      return { value: Boolean(raw) };
    case 'one':
      return raw === '' ? { missing: true } : { value: field.choices[Number(raw)].value };
    case 'many':
      if (!raw.length && !field.required && field.schema.minItems === undefined) return { missing: true };
      return { value: raw.map((place) => field.choices[Number(place)].value) };
    case 'number':
    case 'integer':
      return number(field, raw.trim());
    case 'json':
      return json(field, raw.trim());
    default:
      return words(field, raw);
  }
}

function words(field, raw) {
  if (raw === '') return { missing: true };
  if (field.schema.format !== 'date-time') return { value: raw };
  const time = new Date(raw);
  return Number.isNaN(time.getTime())
    ? { problem: t.noDate(field.label) }
    : { value: time.toISOString() };
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The number in a text that was trimmed, for a field of kind `number` or `integer`. */
export function number(field, raw) {
  if (raw === '') return { missing: true };
  const found = NUMBER.test(raw) ? Number(raw) : NaN;
  if (!Number.isFinite(found)) {
    const comma = /^[+-]?\d+,\d+$/.test(raw);
    return { problem: comma ? t.noNumberBut(field.label, raw.replace(',', '.')) : t.noNumber(field.label) };
  }
  if (field.kind === 'integer' && !Number.isInteger(found))
    return { problem: t.noWhole(field.label) };
  return { value: found };
}

function json(field, raw) {
  if (raw === '') return { missing: true };
  try {
    return { value: JSON.parse(raw) };
  } catch (error) {
    return { problem: t.noJson(field.label, error.message) };
  }
}

/**
 * Why a value does not fit, or nothing. Patterns are left to the program: a server's pattern could
 * keep the browser busy without end.
 */
function check({ label, schema }, found) {
  if (typeof found === 'string') {
    const length = Array.from(found).length;
    if (length < (schema.minLength ?? 0)) return t.short(label, schema.minLength);
    if (length > (schema.maxLength ?? Infinity))
      return t.long(label, schema.maxLength);
    if (schema.format === 'email' && !/^[^\s@]+@[^\s@]+$/.test(found))
      return t.noEmail(label);
    if (schema.format === 'uri' && !/^[a-z][a-z0-9+.-]*:\S+$/i.test(found)) return t.noAddress(label);
  }
  if (typeof found === 'number') {
    if (found < (schema.minimum ?? -Infinity)) return t.low(label, schema.minimum);
    if (found > (schema.maximum ?? Infinity)) return t.high(label, schema.maximum);
  }
  if (Array.isArray(found)) {
    if (found.length < (schema.minItems ?? 0)) return t.few(label, schema.minItems);
    if (found.length > (schema.maxItems ?? Infinity)) return t.lot(label, schema.maxItems);
  }
  return null;
}
