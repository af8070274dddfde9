// Rules of imports: allowed layers, no barrels, and no product file without an importer.
import { FOLDERS, isIn, PRODUCT, topOf, type Rule, type Tree } from './tree.ts';

/** Tables without code: the words that the editor of the console completes. */
const SQL_WORDS = [
  'aggregates',
  'functionRow',
  'dateFunctions',
  'jsonFunctions',
  'listFunctions',
  'numberFunctions',
  'textFunctions',
  'statistics',
  'windowFunctions',
].map((name) => `query/sql/functions/${name}.ts`);

/** Folder -> folders or single files it may import, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  store: [],
  workers: ['store'],
  query: ['store', 'workers'],
  pipeline: ['query', 'store'],
  market: ['query', 'store', 'workers'],
  reads: ['pipeline', 'market', 'query', 'store', 'workers'],
  jobs: ['reads', 'pipeline', 'market', 'query', 'store', 'workers'],
  api: ['jobs', 'reads', 'pipeline', 'market', 'query', 'store', 'workers'],
  // It runs in a browser: only the words of SQL are shared with the server.
  console: SQL_WORDS,
  app: ['api', 'jobs', 'reads', 'pipeline', 'market', 'query', 'store', 'workers'],
  // Runs alone in an image, beside the server.
  deploy: [],
  cli: ['app', 'jobs', 'pipeline', 'market', 'query', 'store'],
  // Processes of tests run the packed program.
  test: [...FOLDERS, 'bin'],
  bench: FOLDERS,
  docs: FOLDERS,
};

/** Product files that a process starts with, so that no other file imports them. */
const ENTRY_POINTS = [
  'cli/main.ts',
  'store/duckdb/child.ts',
  'pipeline/decode/child/decoderChild.ts',
  'jobs/exchange/exchangeTask.ts',
  'jobs/feeds/tapeWorker.ts',
  'query/charts/chartTask.ts',
  'api/docs/docsTask.ts',
  'jobs/rules/backtestTask.ts',
  'reads/market/answerTask.ts',
  'workers/thread.ts',
  'console/main.ts',
];

/** Complete and tested before its first use: no range code counts sessions of the exchanges. */
const WITHOUT_USER = ['query/time/calendar.ts'];

/** The one file that only gathers others: the table of endpoints. */
export const TABLE_OF_ENDPOINTS = 'api/endpoints/index.ts';

const HTTP = 'node:http';
const HTTP_HOME = 'store/base/http.ts';

export const importRules: readonly Rule[] = [
  {
    name: 'imports point downwards: app, cli -> api -> jobs -> reads -> pipeline, market -> query -> store',
    check: ({ sources }) =>
      sources.flatMap((source) =>
        source.imports
          .filter((one) => !mayImport(source.path, one.target))
          .map(
            (one) =>
              `${source.path}:${one.line} imports ${one.target}; ${topOf(source.path)} may` +
              ` import ${['itself', ...allowed(source.path)].join(', ')}: pass it as an argument`,
          ),
      ),
    wrong: [
      { 'store/a.ts': "import { q } from '../query/a.ts';" },
      { 'store/a.ts': "import type { q } from '../query/a.ts';" },
      { 'query/a.ts': "const q = await import('../pipeline/a.ts');" },
      { 'jobs/a.ts': "let q: import('../api/main.ts').Api;" },
      { 'cli/a.ts': "import { q } from '../api/auth.ts';" },
      { 'api/a.ts': "import { q } from '../test/server.ts';" },
      { 'api/a.ts': "import { q } from '../../other/file.ts';" },
    ],
    right: [
      { 'cli/main.ts': "import { serve } from '../app/main.ts'; import 'node:fs';" },
      { 'api/endpoints/a.ts': "import { q } from '../../jobs/a.ts'; import { b } from './b.ts';" },
      { 'store/a.ts': "// import { q } from '../query/a.ts';\nconst s = \"from '../api/a.ts'\";" },
      { 'test/query/a.test.ts': "import { q } from '../../query/a.ts';" },
    ],
  },
  {
    name: `${HTTP} comes from ${HTTP_HOME}: the module itself loads unused code`,
    check: ({ sources }) =>
      sources
        .filter(({ path }) => isIn(path, PRODUCT))
        .flatMap(({ path, imports }) =>
          imports
            .filter(({ specifier, typeOnly }) => specifier === HTTP && !typeOnly)
            .map(({ line }) => `${path}:${line} imports ${HTTP}; use that of ${HTTP_HOME}`),
        ),
    wrong: [{ 'api/a.ts': "import { type Agent, request } from 'node:http';" }],
    right: [{ 'api/a.ts': "import type { Agent } from 'node:http'; import 'node:https';" }],
  },
  {
    name: `no barrels: only ${TABLE_OF_ENDPOINTS} re-exports`,
    check: ({ sources }) =>
      sources
        .filter(({ path }) => path !== TABLE_OF_ENDPOINTS)
        .flatMap(({ path, imports }) =>
          imports
            .filter((one) => one.reExport)
            .map(
              (one) =>
                `${path}:${one.line} re-exports ${one.specifier}; import from the file that has it`,
            ),
        ),
    wrong: [
      { 'store/a.ts': "export * from './b.ts';" },
      { 'store/a.ts': "export type { B } from './b.ts';" },
    ],
    right: [{ 'api/endpoints/index.ts': "export { b } from './b.ts';" }],
  },
  {
    name: 'every product file is imported by another one, or is an entry point',
    check: orphans,
    wrong: [
      { 'store/a.ts': '' },
      { 'store/a.ts': "import './a.ts';" },
      { 'store/a.ts': '', 'test/a.test.ts': "import '../store/a.ts';" },
    ],
    right: [{ 'cli/main.ts': "import '../store/a.ts';", 'store/a.ts': '', 'bench/b.ts': '' }],
  },
];

const allowed = (path: string): readonly string[] => MAY_IMPORT[topOf(path)] ?? [];

function mayImport(path: string, target: string | undefined): boolean {
  // package.json and the like are data of the whole repository.
  if (target === undefined || (!target.includes('/') && target.endsWith('.json'))) return true;
  const top = topOf(target);
  return top === topOf(path) || allowed(path).includes(top) || allowed(path).includes(target);
}

// A test does not keep a product file alive: what only tests use is not the product.
function orphans({ sources }: Tree): readonly string[] {
  const used = new Set<string | undefined>([...ENTRY_POINTS, ...WITHOUT_USER]);
  for (const { path, imports } of sources) {
    if (topOf(path) === 'test') continue;
    for (const { target } of imports) if (target !== path) used.add(target);
  }
  return sources
    .filter(({ path }) => isIn(path, PRODUCT) && !used.has(path))
    .map(
      ({ path }) =>
        `${path}:1 is imported by no file outside test; use it, delete it, or` +
        ' add it to ENTRY_POINTS in test/project/architecture/imports.ts',
    );
}
