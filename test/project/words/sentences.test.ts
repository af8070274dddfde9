// The check of repeated sentences fails where it should, and only there.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { sampleTrees } from '../architecture/tree.ts';
import { findRepeats } from './sentences.ts';

type Files = Readonly<Record<string, string>>;

const EMPTY = "'the body is empty'";

/** Two places that write one sentence. */
const REPEATED: Readonly<Record<string, Files>> = {
  'an argument of an error, in two layers': {
    'store/a.ts': `throw new Failure('InvalidBody', ${EMPTY});`,
    'api/a.ts': `throw new Failure('InvalidBody', ${EMPTY});`,
  },
  'a constant and an argument': {
    'jobs/a.ts': `const REASON = ${EMPTY};`,
    'jobs/b.ts': `refuse('body', ${EMPTY});`,
  },
  'one file': { 'cli/a.ts': `print(a ? ${EMPTY} : b, ${EMPTY});` },
  'other values in it': {
    'reads/a.ts': 'refuse(name, `must be one of ${list.join(`, `)}`);',
    'jobs/a.ts': "refuse('a', `must be one of ${all}`);",
  },
  'a value at its start or at its end': {
    'query/a.ts': "refuse(at, 'structs are not part of the subset');",
    'query/b.ts': 'refuse(at, `${name}, structs are not part of the subset: ${hint}`);',
  },
  'another quote, and parts on several lines': {
    'api/a.ts': "const a = 'the file\\'s name is ' + // first\n  'not given at all';",
    'api/b.ts': 'const a = "the file\'s name is not given at all";',
  },
  'a clause of it': {
    'market/a.ts': "const a = 'a page is damaged: the file was cut off early';",
    'market/b.ts': "const a = 'the file was cut off early; send it again';",
  },
  'an object without a description': {
    'api/a.ts': `const a = { reason: ${EMPTY} };`,
    'api/b.ts': `const a = { rule: ${EMPTY} };`,
  },
};

const NOT_REPEATED: Readonly<Record<string, Files>> = {
  'it is imported': {
    'store/a.ts': `export const REASON = ${EMPTY};`,
    'api/a.ts': "import { REASON } from '../store/a.ts';",
  },
  'a comment or a document repeats it': {
    'store/a.ts': `// ${EMPTY}\nexport const REASON = ${EMPTY};`,
    'store/README.md': EMPTY,
  },
  'a phrase of three words': {
    'store/a.ts': "const a = 'if it is, wait'; const b = 'try it again';",
    'store/b.ts': "const a = 'try it again';",
  },
  'a short clause of different sentences': {
    'store/a.ts': "const a = 'a job runs: wait for its end';",
    'store/b.ts': "const a = 'a backup runs: wait for its end';",
  },
  'descriptions, help of commands, SQL': {
    'api/a.ts':
      "const a = { help: 'a name for the use in commands', summary: 'the list of all jobs' };",
    'api/b.ts':
      "const a = { help: 'a name for the use in commands', summary: 'the list of all jobs' };",
    'cli/dataCommands.ts': "option('--a', 'read it as of a day or a time');",
    'cli/moreCommands.ts': "option('--a', 'read it as of a day or a time');",
    'store/a.ts':
      "const a = 'select a from b order by c'; const b = 'SELECT a FROM b WHERE c IS TRUE';",
    'store/b.ts':
      "const a = 'select a from b order by c'; const b = 'SELECT a FROM b WHERE c IS TRUE';",
  },
  'tests, and the console': {
    'store/a.ts': `const a = ${EMPTY};`,
    'console/a.ts': `const a = ${EMPTY};`,
    'test/a.ts': `const a = ${EMPTY};`,
  },
};

const LINES: Files = {
  'api/a.ts': `\n\nf(${EMPTY});`,
  'store/a.ts': `f(\n${EMPTY});`,
};

/** All samples are parsed together: a start of the compiler takes 0.1 s. */
const SAMPLES = [...Object.values(REPEATED), ...Object.values(NOT_REPEATED), LINES];
const TREES = sampleTrees(SAMPLES);

const repeatsOf = (files: Files): ReturnType<typeof findRepeats> =>
  findRepeats(TREES[SAMPLES.indexOf(files)]?.sources ?? []);

for (const [name, files] of Object.entries(REPEATED)) {
  test(`is found: ${name}`, () => {
    const repeats = repeatsOf(files);
    assert.equal(repeats.length, 1, JSON.stringify(repeats));
    assert.equal(repeats[0]?.places.length, 2);
  });
}

for (const [name, files] of Object.entries(NOT_REPEATED)) {
  test(`is not found: ${name}`, () => assert.deepEqual(repeatsOf(files), []));
}

test('a place has its line', () => {
  const [repeat] = repeatsOf(LINES);
  assert.deepEqual(repeat, {
    sentence: 'the body is empty',
    places: [
      { path: 'api/a.ts', line: 3 },
      { path: 'store/a.ts', line: 2 },
    ],
  });
});
