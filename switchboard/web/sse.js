// Server-sent events, read from text in whatever pieces it comes.

/** A reader: `push` takes a piece and returns the events it completes, as `{id, kind, data}`. */
export function reader() {
  let rest = '';
  let skipLineFeed = false;
  let event = blank();
  let id = null;

  function line(text, found) {
    if (text === '') {
      if (event.data.length) found.push({ id, kind: event.kind, data: event.data.join('\n') });
      event = blank();
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event.kind = value;
    else if (field === 'data') event.data.push(value);
    else if (field === 'id' && !value.includes('\0')) id = value;
  }

  return {
    push(piece) {
      const found = [];
      if (skipLineFeed && piece.startsWith('\n')) piece = piece.slice(1);
      if (piece) skipLineFeed = false;
      const text = rest + piece;
      let from = 0;
      for (const end of text.matchAll(/\r\n|\r|\n/g)) {
        line(text.slice(from, end.index), found);
        from = end.index + end[0].length;
        if (end[0] === '\r' && from === text.length) skipLineFeed = true;
      }
      rest = text.slice(from);
      return found;
    },
  };
}

function blank() {
  return { kind: 'message', data: [] };
}
