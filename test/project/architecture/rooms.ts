// Every product file is in a module (a room), and modules import only modules before them. A new module needs
// a row here and a README with its rules.
import { dirname } from 'node:path';
import { isIn, PRODUCT, topOf, type Rule } from './tree.ts';

/** The modules of each layer; a module imports itself and those before it. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  store: [
    'base',
    'base/settings',
    'bus',
    'bus/nats',
    'queues',
    'duckdb',
    'catalog/tables',
    'catalog/secrets',
    'catalog',
    'sqlite',
    'postgres',
    'files',
    'files/bucket',
    'remote',
    'lake/versions',
    'lake/datasets',
    'lake/pushes',
    'publications',
    'lake/history',
    'accounts',
    'lake',
    'ledger',
    'ledger/leases',
    'replica',
    'work',
  ],
  query: [
    'time',
    'charts/records',
    'charts',
    'plan',
    'series',
    'sql/functions',
    'sql/plan',
    'sql/print',
    'sql/text',
    'sql/lower',
    'sql/pricing',
    'sql/run',
    'rules',
  ],
  pipeline: [
    'bytes',
    'dates',
    'values',
    'csv/lines',
    'csv',
    'batch',
    'copies',
    'decode/arrow',
    'decode/json',
    'decode/pages',
    'decode/child',
    'decode',
    'conform',
    'sources/base',
    'merge',
    'edit',
    'sources/http',
    'sources/feed',
    'sources/postgres',
    'sources/s3',
    'sources',
    'targets',
  ],
  market: [
    'reports',
    'inputs',
    'files',
    'derive',
    'indicators',
    'types',
    'board',
    'live',
    'rules',
    'capture',
    'symbology',
    'money',
    'exchange',
    'exchange/records',
  ],
  reads: [
    'live',
    'request',
    'rights',
    'answer',
    'series',
    'sql',
    'market',
    'stock',
    'market/reference',
    'points',
    'market/money',
    'streams',
  ],
  jobs: [
    'run',
    'schedule',
    'remote',
    'export',
    'backup',
    'move',
    'exchange',
    'feeds',
    'upkeep',
    'deliveries',
    'rules',
  ],
  api: [
    'sse',
    'request/body',
    'request',
    'auth',
    'datasets',
    'introspection/metrics',
    'forward',
    'console',
    'docs',
    'introspection/openapi',
    'http',
    'streams',
    'market/document',
    'datasets/ingest',
    'rules',
    'datasets/publications',
    'agents',
    'endpoints/accounts',
    'endpoints/read',
    'endpoints/replica',
    'endpoints/data',
    'endpoints/sources',
    'endpoints/rules',
    'endpoints',
  ],
  console: [
    'api',
    'routing',
    'components',
    'screens/data',
    'screens/query',
    'screens/loading',
    'screens/sources',
    'screens/money',
    'screens/live',
    'screens/rules',
    'screens/market',
    'screens/operate',
    '.',
  ],
  workers: ['.'],
  app: ['lake', '.', 'nodes'],
  cli: ['connect', 'print', 'data', 'pipeline', 'rules', 'doctor', 'operate', '.'],
};

/** Lines of a module's README: its rules and its files. */
const README_LINES_MAX = 16;

const roomOf = (path: string): string => dirname(path).slice(topOf(path).length + 1) || '.';
const folderOf = (layer: string, room: string): string =>
  room === '.' ? layer : `${layer}/${room}`;

const placeOf = (path: string): number => (ROOMS[topOf(path)] ?? []).indexOf(roomOf(path));

const product = (path: string): boolean => isIn(path, PRODUCT) && path.endsWith('.ts');

export const roomRules: readonly Rule[] = [
  {
    name: 'every product file is in a module',
    check: ({ sources }) =>
      sources
        .filter(({ path }) => product(path) && placeOf(path) < 0)
        .map(({ path }) => `${path}:1 is in no module of ${topOf(path)}; see ROOMS`),
    wrong: [{ 'store/a.ts': '' }, { 'store/misc/a.ts': '' }, { 'query/sql/a.ts': '' }],
    right: [
      { 'store/base/a.ts': '', 'query/sql/run/a.ts': '', 'app/main.ts': '', 'cli/main.ts': '' },
      { 'test/a.ts': '', 'bench/a.ts': '' },
    ],
  },
  {
    name: 'a module imports only modules before it',
    check: ({ sources }) =>
      sources
        .filter(({ path }) => product(path))
        .flatMap(({ path, imports }) =>
          imports
            .filter(({ target }) => target !== undefined && topOf(target) === topOf(path))
            .filter(({ target }) => placeOf(target ?? '') > placeOf(path))
            .map((one) => `${path}:${one.line} imports ${one.target}, of a module after its own`),
        ),
    wrong: [
      { 'store/base/a.ts': "import { l } from '../lake/l.ts';", 'store/lake/l.ts': '' },
      { 'store/base/a.ts': "import type { l } from '../lake/l.ts';", 'store/lake/l.ts': '' },
    ],
    right: [{ 'store/lake/a.ts': "import { b } from '../base/b.ts';", 'store/base/b.ts': '' }],
  },
  {
    name: 'a module lists its rules in a short README',
    check: ({ sources, texts }) =>
      Object.entries(ROOMS).flatMap(([layer, rooms]) =>
        rooms
          .map((room) => folderOf(layer, room))
          .filter((folder) => sources.some(({ path }) => dirname(path) === folder))
          .filter((folder) => !isTable(folder))
          .flatMap((folder) => {
            const text = texts.get(`${folder}/README.md`);
            if (text === undefined) return [`${folder}/README.md:1 is missing`];
            const lines = text.trimEnd().split('\n').length;
            return lines <= README_LINES_MAX && /^- /m.test(text)
              ? []
              : [`${folder}/README.md:1 must list rules (-) in at most ${README_LINES_MAX} lines`];
          }),
      ),
    wrong: [
      { 'store/base/a.ts': '' },
      { 'store/base/a.ts': '', 'store/base/README.md': '# base\n' },
      { 'store/base/a.ts': '', 'store/base/README.md': '- law\n'.repeat(README_LINES_MAX + 1) },
    ],
    right: [{ 'store/base/a.ts': '', 'store/base/README.md': '# base\n\n- law\n' }],
  },
];

/** Parts of the table of endpoints, which has one README for all. */
const isTable = (folder: string): boolean => folder.startsWith('api/endpoints/');
