// Renders docs/ into HTML pages and builds the search index. Runs in a thread: all pages take 0.3 s.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path/posix';
import { Marked, type Tokens } from 'marked';
import MiniSearch from 'minisearch';
import { type DocsPage, escapeHtml, pageHtml } from './pageHtml.ts';

export interface RenderedDocs {
  /** Whole HTML pages by path. */
  readonly pages: readonly (readonly [path: string, html: string])[];
  /** Paths of the pictures in the folder. */
  readonly pictures: readonly string[];
  /** Serialized for the search in the browser. */
  readonly searchIndex: string;
}

/** The search index's entries: one for each section of a page. */
interface Section {
  /** Its address below `/docs/`, with its anchor. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** Options that the browser needs to read the index. */
const SEARCH_FIELDS = { fields: ['title', 'text'], storeFields: ['title'] };

/** Of a section's text in the index; a longer one is found by its first words. */
const SECTION_TEXT_MAX = 2_000;

const PICTURE = /\.(png|svg)$/;

export async function renderDocs(folder: string): Promise<RenderedDocs> {
  const entries = await readdir(folder, { recursive: true });
  const files = entries.filter((name) => name.endsWith('.md')).toSorted();
  const sections: Section[] = [];
  const targets = new Set(files);
  const pages = await Promise.all(
    files.map(async (file) =>
      renderPage(file, await readFile(join(folder, file), 'utf8'), { sections, targets }),
    ),
  );
  const search = new MiniSearch<Section>(SEARCH_FIELDS);
  search.addAll(sections);
  return {
    pages: pages.map((page) => [page.path, pageHtml(page, pages)] as const),
    pictures: entries.filter((name) => PICTURE.test(name)),
    searchIndex: JSON.stringify(search),
  };
}

/** `guides/load.md` -> `guides/load`; a README is the page of its folder. */
const pathOf = (file: string): string => file.replace(/\.md$/, '').replace(/(^|\/)README$/, '');

interface Rendering {
  /** Receives the sections of each page. */
  readonly sections: Section[];
  /** Paths of all pages' files. */
  readonly targets: ReadonlySet<string>;
}

function renderPage(file: string, text: string, { sections, targets }: Rendering): DocsPage {
  const path = pathOf(file);
  const anchorCounts = new Map<string, number>();
  let title = path;
  let section: { id: string; title: string; text: string } = { id: path, title: '', text: '' };
  const endSection = (): void => {
    const { id, title: heading, text: body } = section;
    const full = heading === title || heading === '' ? title : `${title}: ${heading}`;
    sections.push({ id, title: full, text: body.slice(0, SECTION_TEXT_MAX) });
  };
  const marked = new Marked({
    renderer: {
      heading({ depth, text: heading, tokens }: Tokens.Heading): string {
        const id = anchorOf(heading, anchorCounts);
        if (depth === 1) title = plain(heading);
        else endSection();
        section = { id: depth === 1 ? path : `${path}#${id}`, title: plain(heading), text: '' };
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const text = this.parser.parseInline(tokens);
        const target = linkTo(href, file, targets);
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      image({ href, text: label }: Tokens.Image): string {
        const source = escapeHtml(linkTo(href, file, targets) ?? '');
        return `<img src="${source}" alt="${escapeHtml(label)}" loading="lazy">`;
      },
      table(token: Tokens.Table): string {
        const column = ({ tokens }: Tokens.TableCell, tag: string): string =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const row = (cells: readonly Tokens.TableCell[], tag: string): string =>
          `<tr>${cells.map((cell) => column(cell, tag)).join('')}</tr>`;
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        const table = `<thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody>`;
        return `<div class="table"><table>${table}</table></div>\n`;
      },
    },
  });
  const html = marked
    .lexer(text)
    .map((token) => {
      if (token.type !== 'heading') section.text += ` ${plain(token.raw)}`;
      return marked.parser([token]);
    })
    .join('');
  endSection();
  return { path, title, html };
}

/** As GitHub makes them, so that links within the files work in both places. */
function anchorOf(heading: string, anchorCounts: Map<string, number>): string {
  const base = plain(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
  const count = anchorCounts.get(base) ?? 0;
  anchorCounts.set(base, count + 1);
  return count === 0 ? base : `${base}-${count}`;
}

/** The address of a page or picture; undefined for files of the sources, which this server does not serve. */
function linkTo(href: string, file: string, targets: ReadonlySet<string>): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = normalize(join(dirname(file), path));
  if (PICTURE.test(target)) return `/docs/${target}`;
  const isFolder = targets.has(join(target, 'README.md'));
  if (!isFolder && !targets.has(target)) return undefined;
  return `/docs/${pathOf(target)}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Without the marks of markdown. */
const plain = (markdown: string): string => markdown.replace(/[`*_|#>[\]]/g, ' ').trim();
