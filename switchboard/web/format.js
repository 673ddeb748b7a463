// Numbers and times as people read them, in the language of the page.

import { language, locale, text } from './text.js';

const t = text.format;
const digits = new Intl.NumberFormat(locale);
const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(locale, { style: 'percent' });
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

/** The share of tokens that came from the provider's cache: `45%`; nothing if none did. */
export function cached({ input = 0, cacheRead = 0 }) {
  return input && cacheRead ? share.format(Math.min(1, cacheRead / input)) : '';
}

/** What an answer or a conversation used: `1,234 (45% cached) tokens in · 56 out · $0.0021`. */
export function usage({ input = 0, output = 0, costMicros = null, cacheRead = 0, unpricedRounds = 0 }) {
  const part = cached({ input, cacheRead });
  const used = t.usage(part ? t.cached(count(input), part) : count(input), count(output));
  if (!costMicros) return used;
  return `${used} · ${unpricedRounds ? t.atLeast(money(costMicros)) : money(costMicros)}`;
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

/**
 * Characters that are not seen as themselves; those of them that turn the text around them, or break
 * its line. tool-policy's hidden.rs has the same ones.
 */
const HIDDEN =
  /[\p{Cc}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;
const TURNING = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function escaped(sign) {
  const units = Array.from({ length: sign.length }, (_, at) => sign.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** A name or another short text of a server: in one line, and with nothing hidden in it. */
export function plain(name) {
  return String(name ?? '').replace(HIDDEN, escaped);
}

/** A text of a server: its lines stay, and nothing in it turns what stands around it. */
export function plainLines(given) {
  return String(given ?? '').replaceAll('\r\n', '\n').replace(TURNING, '\ufffd');
}

/** A text that is decided on: its lines stay, and what is hidden in it is spelt out. */
export function spelt(given) {
  const lines = String(given ?? '').replaceAll('\r\n', '\n');
  return lines.replace(HIDDEN, (sign) => (sign === '\n' || sign === '\t' ? sign : escaped(sign)));
}

/** JSON with room to read and nothing hidden in it; the same value. */
export function pretty(value) {
  // What is hidden in its strings is escaped already, or can be.
  return spelt(JSON.stringify(value, null, 2));
}
