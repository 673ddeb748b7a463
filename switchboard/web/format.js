// Numbers and times as people read them, in the language of the page.

import { language, locale, text } from './text.js';

const t = text.format;
const digits = new Intl.NumberFormat(locale);
const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });
const cents = currency(2);
const fractions = currency(4);

function currency(places) {
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  });
}

/** `950 ms`, `1.4 s`, `2 min 5 s`. */
export function span(ms) {
  if (ms < 1000) return t.ms(digits.format(Math.max(0, Math.round(ms))));
  if (ms < 60_000) return t.seconds(tenths.format(ms / 1000));
  const minutes = Math.floor(ms / 60_000);
  return t.minutes(digits.format(minutes), Math.round((ms % 60_000) / 1000));
}

/** `1,234`, `56.7K`, `1.2M`. */
export function count(number) {
  return number < 10_000 ? digits.format(number) : compact.format(number);
}

/** Millionths of a dollar. */
export function money(micros) {
  const dollars = micros / 1_000_000;
  return (dollars >= 0.1 || dollars === 0 ? cents : fractions).format(dollars);
}

/** What an answer or a conversation used: `1,234 tokens in · 56 out · $0.0021`. */
export function usage({ input = 0, output = 0, costMicros = null }) {
  const used = t.usage(count(input), count(output));
  return costMicros ? `${used} · ${money(costMicros)}` : used;
}

/** Today's times by the clock, others by their day. */
export function when(given, now = new Date()) {
  const time = new Date(given);
  if (Number.isNaN(time.getTime())) return '';
  if (time.toDateString() === now.toDateString()) {
    return time.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' });
  }
  const year = time.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return time.toLocaleDateString(locale, { day: 'numeric', month: 'short', year });
}

/** The heading a day's conversations stand under. */
export function day(given, now = new Date()) {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const days = Math.ceil((midnight - new Date(given)) / 86_400_000);
  if (days <= 0) return t.today;
  if (days === 1) return t.yesterday;
  return days < 7 ? t.week : t.earlier;
}

/** JSON with room to read. */
export function pretty(value) {
  return JSON.stringify(value, null, 2) ?? '';
}
