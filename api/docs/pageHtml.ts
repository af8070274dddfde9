// Builds the HTML of a page of the documentation around its rendered text.

/** A rendered page; `path` is its address below `/docs/`, empty for the first page. */
export interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly html: string;
}

/** Folders in the order in which a newcomer needs them; others follow by name. */
const FOLDERS = ['tutorials', 'guides', 'concepts', 'reference', 'contributing'];

export function pageHtml(page: DocsPage, pages: readonly DocsPage[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} · Tapedeck documentation</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/docs.css">
<script type="module" src="/docs/assets/search.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="home" href="/docs">Tapedeck documentation</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search" autocomplete="off"
  aria-label="Search the documentation">
<ul id="results" aria-live="polite"></ul>
</div>
<a href="/console">Console</a>
</header>
<div class="columns">
<nav aria-label="Pages">${navigation(page, pages)}</nav>
<main id="content">
${page.html}
</main>
</div>
</body>
</html>
`;
}

function navigation(page: DocsPage, pages: readonly DocsPage[]): string {
  const folders = [...new Set(pages.map(({ path }) => folderOf(path)))].filter(
    (name) => name !== '',
  );
  return folders
    .toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .map((folder) => {
      const items = pages
        .filter(({ path }) => folderOf(path) === folder)
        .map((item) => {
          const isCurrent = item.path === page.path ? ' aria-current="page"' : '';
          const href = escapeHtml(`/docs/${item.path}`);
          return `<li><a href="${href}"${isCurrent}>${escapeHtml(item.title)}</a></li>`;
        });
      const isOpen = folderOf(page.path) === folder || page.path === '' ? ' open' : '';
      const title = folder.charAt(0).toUpperCase() + folder.slice(1);
      const summary = `<summary>${escapeHtml(title)}</summary>`;
      return `<details${isOpen}>${summary}<ul>${items.join('')}</ul></details>`;
    })
    .join('\n');
}

const folderOf = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? '') : '');

const rank = (folder: string): number => {
  const at = FOLDERS.indexOf(folder);
  return at < 0 ? FOLDERS.length : at;
};

/** For text between tags and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
