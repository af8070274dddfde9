// Documents match the code, and the repository names no machine.
import type { Rule, Tree } from './tree.ts';

const DECISIONS = 'docs/contributing/decisions/';
const SETTINGS_PAGE = 'docs/reference/settings.md';
const SETTINGS = 'store/base/settings/settingsTable.ts';
const GENERATED = ['docs/reference/api.md', 'docs/reference/openapi.json'];

// The patterns are written so that they do not match themselves.
const MACHINE_PATH = /(?<![\w.-])\/(?:work|root|home)\//;
const REGISTRY = new RegExp(
  '\\b(?:registry|npm|nexus|artifactory|verdaccio)(?:[.-][a-z0-9-]+)*' +
    '\\.(?:com|org|net|io|dev|cn|internal|local)\\b',
  'i',
);

const slashed = (...parts: readonly string[]): string => `/${parts.join('/')}/`;
const PACKAGE = JSON.stringify({ dependencies: { fastify: '1' }, devDependencies: { tape: '1' } });

export const documentRules: readonly Rule[] = [
  {
    name: `every dependency has its reason in ${DECISIONS}`,
    check: ({ texts }) =>
      dependencies(texts.get('package.json'))
        .filter((name) => !decisions(texts).some((text) => mentions(text, name)))
        .map((name) => `${DECISIONS}:1 does not mention ${name}; add why it is a dependency`),
    wrong: [
      { 'package.json': PACKAGE },
      { 'package.json': PACKAGE, [`${DECISIONS}a.md`]: 'fastify, tapedeck' },
    ],
    right: [{ 'package.json': PACKAGE, [`${DECISIONS}a.md`]: 'fastify: fast. `tape`.' }, {}],
  },
  {
    name: `every setting is explained in ${SETTINGS_PAGE}`,
    check: ({ texts }) =>
      settings(texts.get(SETTINGS))
        .filter((name) => !mentions(texts.get(SETTINGS_PAGE), name))
        .map((name) => `${SETTINGS_PAGE}:1 does not mention ${name}; explain it there`),
    wrong: [
      { [SETTINGS]: "const a = 'TAPEDECK_PORT';" },
      { [SETTINGS]: "const a = 'TAPEDECK_TLS';", [SETTINGS_PAGE]: 'TAPEDECK_TLS_KEY' },
    ],
    right: [{ [SETTINGS]: "'TAPEDECK_PORT'; 'TAPEDECK_';", [SETTINGS_PAGE]: '`TAPEDECK_PORT`' }],
  },
  {
    name: 'generated documents are what docs/generate.ts writes',
    check: staleDocuments,
    wrong: [
      {
        'docs/generate.ts': '{"docs/reference/api.md":"a","docs/reference/openapi.json":"b"}',
      },
      {
        'docs/generate.ts': '{"docs/reference/api.md":"a"}',
        'docs/reference/api.md': 'a',
      },
      {
        'docs/generate.ts': '{"docs/reference/api.md":"a","docs/reference/openapi.json":"b"}',
        'docs/reference/api.md': 'a',
        'docs/reference/openapi.json': 'c',
      },
    ],
    right: [
      {
        'docs/generate.ts': '{"docs/reference/api.md":"a","docs/reference/openapi.json":"b"}',
        'docs/reference/api.md': 'a',
        'docs/reference/openapi.json': 'b',
      },
      {},
    ],
  },
  {
    name: 'no path of one machine',
    check: ({ texts }) => findMatches(texts, MACHINE_PATH, 'write it relative to the repository'),
    wrong: [
      { 'README.md': `cd ${slashed('work', 'main')}` },
      { 'a.json': `"${slashed('home', 'me')}"` },
      { '.ci/run': `ls ${slashed('root')}` },
    ],
    right: [{ 'README.md': `homework/root, a${slashed('home')}` }],
  },
  {
    name: 'no host name of a package registry',
    check: ({ texts }) => findMatches(texts, REGISTRY, "leave the registry to the user's npm"),
    wrong: [
      { 'package-lock.json': `"https://${['registry', 'npmjs', 'org'].join('.')}/a"` },
      { '.npmrc': ['npm', 'pkg', 'github', 'com'].join('.') },
    ],
    right: [{ 'README.md': 'the npm registry; registry.ts, npm.cmd' }],
  },
];

const decisions = (texts: Tree['texts']): readonly string[] =>
  [...texts].filter(([path]) => path.startsWith(DECISIONS)).map(([, text]) => text);

/** As a whole word: `a.ts` is not mentioned by `ba.ts`, nor `TAPEDECK_TLS` by a longer name. */
function mentions(document: string | undefined, word: string): boolean {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w@-])${escaped}(?![\\w-])`).test(document ?? '');
}

function dependencies(text: string | undefined): readonly string[] {
  const manifest: unknown = JSON.parse(text ?? '{}');
  if (typeof manifest !== 'object' || manifest === null) return [];
  const kinds = new Map(Object.entries(manifest));
  return ['dependencies', 'devDependencies'].flatMap((kind) => Object.keys(kinds.get(kind) ?? {}));
}

const settings = (text: string | undefined): readonly string[] => [
  ...new Set(text?.match(/(?<=['"`])TAPEDECK_[A-Z0-9_]+(?=['"`])/g)),
];

async function staleDocuments({ texts, generate }: Tree): Promise<readonly string[]> {
  if (generate === undefined) return [];
  const generated = await generate();
  const unmade = GENERATED.filter((path) => !generated.has(path)).map(
    (path) => `docs/generate.ts:1 does not write ${path}; generate() must return it`,
  );
  const stale = [...generated]
    .filter(([path, text]) => texts.get(path) !== text)
    .map(([path]) => `${path}:1 differs from what docs/generate.ts writes; run npm run docs`);
  return [...unmade, ...stale];
}

function findMatches(texts: Tree['texts'], pattern: RegExp, instead: string): readonly string[] {
  return [...texts].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const match = pattern.exec(line)?.[0];
      return match === undefined ? [] : [`${path}:${index + 1} has ${match}; ${instead}`];
    }),
  );
}
