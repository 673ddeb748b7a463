// URI templates (RFC 6570) whose variables are texts: which variables there are, and the URI they make. Pure.

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;
/** How each operator begins, joins and names its variables, and whether it keeps reserved characters. */
const OPERATORS = {
  '': { first: '', between: ',' },
  '+': { first: '', between: ',', reserved: true },
  '#': { first: '#', between: ',', reserved: true },
  '.': { first: '.', between: '.' },
  '/': { first: '/', between: '/' },
  ';': { first: ';', between: ';', named: true, empty: '' },
  '?': { first: '?', between: '&', named: true, empty: '=' },
  '&': { first: '&', between: '&', named: true, empty: '=' },
};

/** The variables of a template, each once, in order. */
export function variablesOf(template) {
  const found = [...template.matchAll(EXPRESSION)].flatMap(([, , list]) => variables(list));
  return [...new Set(found.map(({ name }) => name))];
}

/** The URI of these values; a variable without one is left out. */
export function expanded(template, values) {
  return template.replace(EXPRESSION, (_, sign, list) => {
    const { first, between, named, empty, reserved } = OPERATORS[sign];
    const parts = variables(list)
      .filter(({ name }) => values[name] !== undefined)
      .map(({ name, length }) => {
        const value = Array.from(String(values[name])).slice(0, length).join('');
        const said = reserved ? allowed(value) : strict(value);
        if (!named) return said;
        return said === '' ? `${name}${empty}` : `${name}=${said}`;
      });
    return parts.length ? first + parts.join(between) : '';
  });
}

function variables(list) {
  return list.split(',').map((it) => {
    const [, name, length] = /^([^:*]*)(?::(\d+))?\*?$/.exec(it.trim()) ?? [null, it.trim()];
    return { name, length: length === undefined ? undefined : Number(length) };
  });
}

function strict(value) {
  return encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, percent);
}

/** Reserved characters stay, and so does what is encoded already. */
function allowed(value) {
  return encodeURI(value.toWellFormed()).replace(/%25([0-9a-f]{2})/gi, '%$1').replaceAll('%5B', '[').replaceAll('%5D', ']');
}

function percent(sign) {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
}
