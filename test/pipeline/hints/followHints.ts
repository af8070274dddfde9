// The hints of a message, as a person would follow them: parameters of a request, options of a command, a
// whole command, or a request.

/** Parameters that a message may name. */
const PARAMETERS = new Set(
  [
    'as binary columns confirmAdjustment constants dateFormat dateOrder delimiter duplicates encoding',
    'duplicateKeyHandling escape header jsonPath key nulls quote skipLast skipLines timeZone uniqueIndex',
    'guess vendor wide',
  ].flatMap((names) => names.split(' ')),
);

export interface Hint {
  /** As it is printed. */
  readonly printed: string;
  /** `skipLines=3&skipLast=1`, as parameters. */
  readonly query: Readonly<Record<string, string>>;
  /** `(--skip-lines 3 --skip-last 1)`, as words of a command. */
  readonly options: readonly string[];
}

/** Each reading that a message names: `pass a=1&b=2 (--a 1 --b 2), or c=3 (--c 3) if it is one`. */
export function hintsIn(message: string): readonly Hint[] {
  const hints: Hint[] = [];
  for (const { 0: name = '', index } of message.matchAll(/(?<![\w"`'$.])[a-zA-Z]+(?==)/g)) {
    const isPart = hints.some(({ printed }) => {
      const from = message.indexOf(printed);
      return from >= 0 && index > from && index < from + printed.length;
    });
    if (!isPart && PARAMETERS.has(name)) hints.push(...hintsAt(message.slice(index)));
  }
  return hints;
}

/** Parses the hints at the start of a text; `dateOrder=MDY or DMY (--date-order)` are two. */
function hintsAt(text: string): readonly Hint[] {
  const query: [string, string][] = [];
  let at = 0;
  for (;;) {
    const [named = ''] = /^&?[a-zA-Z]+=/.exec(text.slice(at)) ?? [];
    if (named === '') break;
    const value = valueAt(text.slice(at + named.length));
    query.push([named.replace(/[&=]/g, ''), value]);
    at += named.length + value.length;
    if (text[at] !== '&') break;
  }
  const [alternative = '', other] = /^ or ([A-Z]+)(?= \(--)/.exec(text.slice(at)) ?? [];
  const printed = text.slice(0, at + alternative.length);
  const options = text.startsWith(' (--', at + alternative.length)
    ? shellWords(text.slice(at + alternative.length + 2))
    : [];
  const isBare = options.length === 1 && other !== undefined;
  const [[name, value] = ['', '']] = query;
  const own = { printed, query: Object.fromEntries(query), options };
  if (!isBare) return [own];
  return [value, other].map((one) => ({
    printed,
    query: { [name]: one },
    options: [...options, one],
  }));
}

function valueAt(text: string): string {
  if (text.startsWith('{')) return text.slice(0, endOfJson(text));
  if (text.startsWith('$')) {
    return /^\$(?:\.\w+|\.\{\w+\}|\[\*\]|\["(?:[^"\\]|\\.)*"\])*/.exec(text)?.[0] ?? '';
  }
  return /^[^\s,;()&]*/.exec(text)?.[0] ?? '';
}

function endOfJson(text: string): number {
  for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}', end + 1)) {
    try {
      JSON.parse(text.slice(0, end + 1));
      return end + 1;
    } catch {
      continue;
    }
  }
  throw new Error(`no JSON: ${text}`);
}

/** The words of a shell, up to a parenthesis that closes, a semicolon or the end. */
function shellWords(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === ')' || sign === ';') break;
    if (sign === ' ') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (sign === "'") {
      const end = text.indexOf("'", at + 1);
      word = (word ?? '') + text.slice(at + 1, end);
      at = end;
    } else if (sign === '\\') {
      at += 1;
      word = (word ?? '') + text.charAt(at);
    } else {
      word = (word ?? '') + sign;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** The words behind `tapedeck` of each command that a text prints. */
export const commandsIn = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/\btapedeck ([^`\n]*)/g)].map(([, rest = '']) => {
    const words = shellWords(rest);
    const end = words.indexOf('loads');
    return end < 0 ? words : words.slice(0, end);
  });

/** `PATCH /v1/… with {…}`. */
export function requestIn(text: string): {
  readonly method: string;
  readonly path: string;
  readonly body: object;
} {
  const [, method = '', path = '', rest = ''] = /\b([A-Z]+) \/v1(\S+) with (.*)/.exec(text) ?? [];
  return { method, path, body: JSON.parse(rest.slice(0, endOfJson(rest))) as object };
}
