// Numbers and times as people read them.

/** `950 ms`, `1.4 s`, `2 min 5 s`. */
export function span(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** `1,234`, `56.7k`, `1.2M`. */
export function count(number) {
  if (number < 10_000) return number.toLocaleString('en');
  if (number < 1_000_000) return `${(number / 1000).toFixed(1)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

/** Millionths of a dollar. */
export function money(micros) {
  const dollars = micros / 1_000_000;
  return dollars >= 0.1 || dollars === 0 ? `$${dollars.toFixed(2)}` : `$${dollars.toFixed(4)}`;
}

/** What an answer or a conversation used: `1,234 in · 56 out · $0.0021`. */
export function usage({ input = 0, output = 0, costMicros = null }) {
  const parts = [`${count(input)} tokens in`, `${count(output)} out`];
  if (costMicros) parts.push(money(costMicros));
  return parts.join(' · ');
}

/** Today's times by the clock, others by their day. */
export function when(text, now = new Date()) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return '';
  if (time.toDateString() === now.toDateString()) {
    return time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  }
  const year = time.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return time.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year });
}

/** The heading a day's conversations stand under. */
export function day(text, now = new Date()) {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const days = Math.ceil((midnight - new Date(text)) / 86_400_000);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return days < 7 ? 'This week' : 'Earlier';
}

/** JSON with room to read. */
export function pretty(value) {
  return JSON.stringify(value, null, 2) ?? '';
}
