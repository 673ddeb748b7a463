// An answer is text with calls in between: where does each call stand?

/**
 * The answer in order, as `{text}` and `{calls}`. A call stands where the text had come to when it
 * was made (`offset`, in characters).
 */
export function segments(content, calls) {
  const points = Array.from(content);
  const found = [];
  let from = 0;
  const upTo = (end) => {
    const text = points.slice(from, end).join('');
    if (text.trim()) found.push({ text });
    from = Math.max(from, end);
  };
  for (const call of calls) {
    upTo(Math.min(call.offset ?? 0, points.length));
    const last = found.at(-1);
    if (last?.calls) last.calls.push(call);
    else found.push({ calls: [call] });
  }
  upTo(points.length);
  return found;
}
