// A form from a JSON Schema: for what servers ask, and for trying a tool.

import { fresh, h } from './dom.js';
import { goTo, mark, problemPlace } from './fields.js';
import { fieldsOf, read } from './form-values.js';
import { pretty } from './format.js';
import { text } from './text.js';

const t = text.form;

/** A form's fields. `collect()` gives the values, or shows what is wrong and gives nothing. */
export class SchemaForm {
  constructor(schema, values = {}) {
    this.fields = fieldsOf(schema).map((field) => new Field(field, values[field.name] ?? field.initial));
    this.element = h(
      'div',
      { class: 'fields' },
      this.fields.map(({ element }) => element),
    );
  }

  collect() {
    const values = {};
    let first = null;
    for (const field of this.fields) {
      const found = field.read();
      if (found.problem) first ??= field;
      else if (!found.missing) values[field.spec.name] = found.value;
    }
    first?.focus();
    return first ? null : values;
  }

  /** Shows what the program found wrong, `[{field, reason}]`; gives back what no field is about. */
  refuse(problems) {
    let first = null;
    const rest = problems.filter(({ field: name, reason }) => {
      const field = this.fields.find(({ spec }) => spec.name === name);
      field?.tell(t.reported(field.spec.label, reason));
      first ??= field;
      return !field;
    });
    first?.focus();
    return rest.map(({ field, reason }) => `${field}: ${reason}`);
  }
}

class Field {
  constructor(spec, initial) {
    this.spec = spec;
    const id = fresh('field');
    this.problem = problemPlace(id);
    const help = spec.help && h('p', { class: 'help', id: `${id}-help` }, spec.help);
    const described = [help && `${id}-help`, `${id}-problem`].filter(Boolean).join(' ');
    const control = this.control(id, initial, described);
    const optional =
      spec.required || spec.kind === 'yes-no' ? null : h('span', { class: 'quiet' }, ` ${t.optional}`);
    if (spec.kind === 'many') {
      const legend = h('legend', {}, spec.label, optional);
      this.element = h(
        'fieldset',
        { class: 'field', 'aria-describedby': described },
        legend,
        help,
        control,
        this.problem,
      );
    } else if (spec.kind === 'yes-no') {
      this.element = h(
        'div',
        { class: 'field' },
        h('label', { class: 'check', for: id }, control, h('span', {}, spec.label)),
        help,
        this.problem,
      );
    } else {
      this.element = h(
        'div',
        { class: 'field' },
        h('label', { for: id }, spec.label, optional),
        control,
        help,
        this.problem,
      );
    }
  }

  control(id, initial, described) {
    // Nothing moves under the pointer: problems appear on submit, and go away while being fixed.
    const props = { id, 'aria-describedby': described, oninput: () => this.problem.hidden || this.read() };
    const { spec } = this;
    switch (spec.kind) {
      case 'yes-no':
        this.input = h('input', { ...props, type: 'checkbox', checked: initial === true });
        this.raw = () => this.input.checked;
        return this.input;
      case 'one':
        this.input = this.select(props, initial);
        this.raw = () => this.input.value;
        return this.input;
      case 'many':
        return this.boxes(id, initial, described);
      case 'json':
        this.input = h('textarea', {
          ...props,
          rows: 3,
          class: 'mono',
          spellcheck: 'false',
          placeholder: 'JSON',
        });
        this.input.value = initial === undefined ? '' : pretty(initial);
        break;
      case 'text':
        this.input = this.text(props, initial);
        break;
      default:
        this.input = h('input', {
          ...props,
          type: 'text',
          inputmode: spec.kind === 'integer' ? 'numeric' : 'decimal',
          value: initial === undefined ? '' : String(initial),
        });
    }
    this.input.required = spec.required;
    this.raw = () => this.input.value;
    return this.input;
  }

  text(props, initial) {
    const { input, schema } = this.spec;
    const shown = typeof initial === 'string' ? initial : '';
    const long =
      input === 'text' && (shown.length > 60 || shown.includes('\n') || (schema.maxLength ?? 0) > 200);
    const control = long ? h('textarea', { ...props, rows: 4 }) : h('input', { ...props, type: input });
    control.value = input === 'datetime-local' && shown ? local(shown) : shown;
    return control;
  }

  select(props, initial) {
    const { choices, required } = this.spec;
    const chosen = choices.findIndex(({ value }) => value === initial);
    const none = required && chosen >= 0 ? null : h('option', { value: '' }, required ? t.choose : '—');
    const select = h(
      'select',
      props,
      none,
      choices.map(({ label }, place) => h('option', { value: place }, label)),
    );
    select.value = chosen < 0 ? '' : String(chosen);
    return select;
  }

  boxes(id, initial, described) {
    const chosen = Array.isArray(initial) ? initial : [];
    const boxes = this.spec.choices.map(({ value, label }, place) => {
      const box = h('input', {
        type: 'checkbox',
        id: place === 0 ? id : `${id}-${place}`,
        'aria-describedby': described,
        value: place,
        checked: chosen.includes(value),
        oninput: () => this.problem.hidden || this.read(),
      });
      return [box, h('label', { class: 'check' }, box, h('span', {}, label))];
    });
    this.input = boxes[0]?.[0];
    this.raw = () => boxes.filter(([box]) => box.checked).map(([box]) => box.value);
    return h(
      'div',
      { class: 'choices' },
      boxes.map(([, label]) => label),
    );
  }

  read() {
    const found = read(this.spec, this.raw());
    this.tell(found.problem);
    return found;
  }

  tell(wrong) {
    if (this.input) mark(this.input, wrong);
  }

  focus() {
    if (this.input) goTo(this.input);
  }
}

/** A time as its input wants it: local, to the minute. */
function local(given) {
  const time = new Date(given);
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
