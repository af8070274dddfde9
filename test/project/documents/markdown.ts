// The documents of the project and their code.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..', '..');

/** In reading order. */
const FIRST = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/README.md'];

export interface Block {
  readonly document: string;
  /** The heading above it. */
  readonly heading: string;
  /** The text after the opening fence: `sh`, `json`; or empty. */
  readonly language: string;
  readonly text: string;
}

const byName = (a: string, b: string): number => (basename(a) < basename(b) ? -1 : 1);

export function documents(): readonly string[] {
  const samples = join('docs', 'guides', 'samples');
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).filter((page) => !page.startsWith(samples));
  return [...FIRST, ...pages.filter((page) => !FIRST.includes(page)).sort(byName)];
}

export const textOf = (document: string): string => readFileSync(join(ROOT, document), 'utf8');

export function blocksOf(document: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: { readonly language: string; readonly lines: string[] } | undefined;
  for (const line of textOf(document).split('\n')) {
    if (line.startsWith('```') && open !== undefined) {
      const { language, lines } = open;
      blocks.push({ document, heading, language, text: lines.join('\n') });
      open = undefined;
    } else if (line.startsWith('```')) open = { language: line.slice(3), lines: [] };
    else if (open !== undefined) open.lines.push(line);
    else heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
  }
  return blocks;
}

/** Headings outside of fenced blocks, without their marks. */
export const headings = (document: string): readonly string[] =>
  [
    ...textOf(document)
      .replaceAll(/^```[^]*?^```/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading = '']) => heading);

/** The anchor that renderers of Markdown give a heading. */
export const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** The texts between single back-ticks, outside of fenced blocks; bars as they are outside of tables. */
export function codeSpans(document: string): readonly string[] {
  const prose = textOf(document).replaceAll(/^```[^]*?^```/gm, '');
  return [...prose.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, span = '']) =>
    span.replaceAll('\\|', '|'),
  );
}
