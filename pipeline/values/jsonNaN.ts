// Records of programs that write NaN and Infinity into JSON, as Python does.

const WORD = /-?\b(?:NaN|Infinity|inf|nan)\b/g;
const MARK = '\u0000';

/** @throws SyntaxError for what is no JSON object even so */
export function parseWithNaN(text: string): Readonly<Record<string, unknown>> {
  if (!/nan|inf/i.test(text)) return JSON.parse(text) as Record<string, unknown>;
  return JSON.parse(quoteWords(text), (_, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
    return /nan/i.test(value) ? Number.NaN : Number.POSITIVE_INFINITY;
  }) as Record<string, unknown>;
}

/** The words outside of texts as marked texts. */
function quoteWords(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const opens = text.indexOf('"', at);
    const end = opens < 0 ? text.length : opens;
    parts.push(text.slice(at, end).replaceAll(WORD, (word) => JSON.stringify(`${MARK}${word}`)));
    at = opens < 0 ? text.length : endOfText(text, opens);
    parts.push(text.slice(end, at));
  }
  return parts.join('');
}

/** Behind the closing quote of the text that opens there. */
function endOfText(text: string, opens: number): number {
  for (let at = opens + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
