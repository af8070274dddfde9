// A reader may copy any block of the documents into a shell: the test runs each as printed.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Block, blocksOf, documents } from './markdown.ts';
import { type FirstStart, startFirst, startWalk, type Walk } from './walk.ts';

/** Blocks that do not run here, by their first line, and the test that runs instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'npm ci && npm start': 'installs; cli.test.ts makes the first start',
  'npm ci && npm test': 'is the run that this test is part of',
  'npm run docs': 'writes into the sources; the architecture test compares what it would write',
  "ATTACH 'ducklake:sqlite:data/catalog.db' AS tapedeck (READ_ONLY, DATA_PATH 'data/lake/',":
    'needs an extension from the network; lake/reader.ts reads by the same specification',
};

/** Pages whose blocks have a test of their own. */
const OWN_TEST: Readonly<Record<string, string>> = { 'docs/reference/sql.md': 'test/query' };

/** Members whose values differ from run to run. */
const VARIES = new Set(['updated', 'created', 'snapshot', 'asOf', 'bytes', 'exportId', 'sha256']);

const LANGUAGES = ['sh', 'json', 'sql', 'text', 'mermaid'];

const BLOCKS = documents()
  .filter((document) => OWN_TEST[document] === undefined)
  .flatMap(blocksOf);

const firstLine = ({ text }: Block): string => text.split('\n')[0] ?? '';
const titleOf = (block: Block): string =>
  `${block.document}, ${block.heading}: ${firstLine(block).slice(0, 60)}`;

/** A tutorial begins after a first start; all other pages share a folder. */
const WALKS = Map.groupBy(
  BLOCKS.filter((one) => ELSEWHERE[firstLine(one)] === undefined),
  ({ document }) => (document.startsWith('docs/tutorials/') ? document : 'documents'),
);

let first: FirstStart | undefined;
beforeAll(async () => {
  first = await startFirst();
});
afterAll(() => first?.[Symbol.asyncDispose]());

for (const [name, blocks] of WALKS) {
  describe(`every block of ${name} runs as printed`, () => {
    let walk: Walk | undefined;
    let printed = '';
    let hasRun = false;
    beforeAll(async () => {
      assert.ok(first);
      walk = await startWalk(first);
    });
    afterAll(() => walk?.[Symbol.asyncDispose]());

    for (const block of blocks) {
      test(titleOf(block), async () => {
        assert.ok(
          LANGUAGES.includes(block.language),
          'a fence names its language: sh, json, sql, text or mermaid',
        );
        if (block.language === 'sh') printed = (await walk?.run(block.text)) ?? '';
        else if (block.language === 'json') assertAnswer(block.text, printed);
        else if (block.language === 'text' && hasRun && name !== 'documents') {
          assertOutput(block.text, printed);
        } else assert.notEqual(block.language, 'sql', 'SQL runs in docs/reference/sql.md only');
        hasRun = block.language === 'sh';
      });
    }
  });
}

test('every exception is an existing block', () => {
  const there = new Set(BLOCKS.map(firstLine));
  assert.deepEqual(
    Object.keys(ELSEWHERE).filter((line) => !there.has(line)),
    [],
  );
});

/** JSON equals the output of the block before it, or its last line; values that vary may be any. */
function assertAnswer(text: string, output: string): void {
  const isDocument = output.startsWith('{\n');
  const last = isDocument ? output : (output.trimEnd().split('\n').at(-1) ?? '');
  assert.deepEqual(masked(JSON.parse(last)), masked(JSON.parse(text)));
}

/** Each line of a tutorial's output is a printed line; `…` matches any text. */
function assertOutput(text: string, output: string): void {
  const lines = output.split('\n').map((line) => line.trim());
  for (const line of text.split('\n').map((one) => one.trim())) {
    const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const pattern = new RegExp(`^${parts.join('.*')}$`);
    assert.ok(
      lines.some((one) => pattern.test(one)),
      `not printed: ${line}\n${output}`,
    );
  }
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      VARIES.has(name) ? typeof member : masked(member),
    ]),
  );
}
