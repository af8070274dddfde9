// The architecture rules. Each rule proves on small trees that it fails where it should, and only there;
// then it checks the repository.
import assert from 'node:assert/strict';
import { afterAll, describe, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { documentRules } from './documents.ts';
import { expressionRules, PROVED, provedText, unlisted } from './expressions.ts';
import { importRules } from './imports.ts';
import { roomRules } from './rooms.ts';
import { sizeRules } from './sizes.ts';
import { repositoryTree, sampleTrees, type Rule, type Tree } from './tree.ts';
import { wordRules } from './words.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const RULES: readonly Rule[] = [
  ...importRules,
  ...roomRules,
  ...sizeRules,
  ...wordRules,
  ...documentRules,
  ...expressionRules,
];

describe('the repository keeps the architecture rules', () => {
  const tree = repositoryTree(ROOT);
  for (const rule of RULES) {
    test(rule.name, async () => {
      const violations = await rule.check(tree);
      assert.ok(violations.length === 0, `\n${violations.join('\n')}\n`);
    });
  }
});

describe('every rule can fail', () => {
  const samples = RULES.flatMap((rule) => [
    ...rule.wrong.map((texts) => ({ rule, texts, keeps: false })),
    ...(rule.right ?? []).map((texts) => ({ rule, texts, keeps: true })),
  ]);
  const trees = sampleTrees(samples.map(({ texts }) => texts));
  for (const rule of RULES) {
    test(rule.name, async () => {
      assert.ok(rule.wrong.length > 0, 'a rule needs a sample that breaks it');
      for (const [index, sample] of samples.entries()) {
        if (sample.rule === rule) await judge(sample, trees[index]);
      }
    });
  }
});

async function judge(
  sample: { readonly rule: Rule; readonly texts: object; readonly keeps: boolean },
  tree: Tree | undefined,
): Promise<void> {
  assert.ok(tree !== undefined);
  const violations = await sample.rule.check(tree);
  const excerpt = JSON.stringify(sample.texts).slice(0, 300);
  assert.equal(violations.length === 0, sample.keeps, `${excerpt}\n${violations.join('\n')}`);
}

// Proving 150 expressions took 6 s of each run.
const UNLISTED_MAX = 30;

test('most expressions are in the list of proved ones', () => {
  const many = unlisted();
  assert.ok(many <= UNLISTED_MAX, `${many} are not listed: UPDATE=1 npm test -- architecture`);
});

if (process.env['UPDATE'] === '1') afterAll(() => writeFileSync(PROVED, provedText()));
