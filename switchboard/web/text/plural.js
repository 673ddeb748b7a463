// Numbers in sentences: which form a language uses for which number.

/**
 * For a language, a maker of texts with a number: `many({ one: 'one tool', other: '# tools' })`
 * gives a function from the number to its text, with `#` replaced by the number.
 */
export function plurals(tag) {
  const rules = new Intl.PluralRules(tag);
  const digits = new Intl.NumberFormat(tag);
  return (forms) => {
    const say = (count) => (forms[rules.select(count)] ?? forms.other).replace('#', digits.format(count));
    return Object.assign(say, { forms });
  };
}
