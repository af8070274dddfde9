// A short excerpt by which a person recognizes a page or a message: plain text, truncated.

import { lookupTable } from '../../store/base/lookupTable.ts';

/** Characters of an excerpt. */
const EXCERPT_MAX = 80;
/** Characters of a page that are searched for a title. */
const PAGE_MAX = 64 * 1024;

const ENTITIES = lookupTable<string>({
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
});

/** One line without control characters, of at most `EXCERPT_MAX` characters, in quotes. */
export function quoteExcerpt(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const characters = [...line];
  const cut = characters.length > EXCERPT_MAX;
  return `"${characters.slice(0, EXCERPT_MAX).join('').trim()}${cut ? ' …' : ''}"`;
}

/** The title of a page or document, else its first words, in quotes. */
export function extractExcerpt(markup: string): string {
  const page = markup.slice(0, PAGE_MAX);
  for (const tag of ['title', 'h1', 'h2', 'message']) {
    const inner = plain(between(page, tag));
    if (inner !== '') return quoteExcerpt(inner);
  }
  return quoteExcerpt(plain(page));
}

/** The text between the first `<tag …>` and its end; empty if there is none. */
function between(page: string, tag: string): string {
  const lower = page.toLowerCase();
  const open = findOpening(lower, tag, 0);
  const from = open < 0 ? -1 : lower.indexOf('>', open);
  const end = from < 0 ? -1 : lower.indexOf(`</${tag}`, from);
  return end < 0 ? '' : page.slice(from + 1, end);
}

/** Position where `<tag` begins and the name ends there. */
function findOpening(lower: string, tag: string, from: number): number {
  for (let at = lower.indexOf(`<${tag}`, from); at >= 0; at = lower.indexOf(`<${tag}`, at + 1)) {
    if (!/[a-z0-9]/.test(lower[at + tag.length + 1] ?? '')) return at;
  }
  return -1;
}

function withoutElement(page: string, tag: string): string {
  const lower = page.toLowerCase();
  let text = '';
  let from = 0;
  for (let at = findOpening(lower, tag, 0); at >= 0; at = findOpening(lower, tag, from)) {
    text += `${page.slice(from, at)} `;
    const end = lower.indexOf(`</${tag}`, at);
    const close = end < 0 ? -1 : lower.indexOf('>', end);
    if (close < 0) return text;
    from = close + 1;
  }
  return text + page.slice(from);
}

/** Text without tags, and without the content of scripts, styles and comments. */
function plain(page: string): string {
  return ['head', 'script', 'style']
    .reduce(withoutElement, page)
    .replace(/<[^>]*>?/g, ' ')
    .replace(/&(?:#(\d{1,6})|(\w{2,6}));/g, (whole, code: string | undefined, name: string) =>
      code === undefined ? (ENTITIES[name] ?? whole) : String.fromCodePoint(Number(code)),
    )
    .trim();
}
