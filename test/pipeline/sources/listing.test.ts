// The matches of a pattern, compared with regular expressions; the new items of a listing, compared with
// a memory without limit.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { type Listed, openListing } from '../../../pipeline/sources/base/listing.ts';
import { checkPattern, literalHead, nameMatcher } from '../../../pipeline/sources/base/pattern.ts';
import type { Position, PullOrder } from '../../../pipeline/sources/base/source.ts';
import { seedsOf } from '../../base/seeds.ts';
import { failing } from './contract.ts';

describe('patterns', () => {
  for (const [pattern, yes, no] of [
    ['*.csv', ['a.csv', 'a.b.csv', '*.csv'], ['.csv', '.a.csv', 'a/b.csv', 'a.csv.gz', 'a.CSV']],
    ['a/*/c', ['a/b/c', 'a/bb/c'], ['a/c', 'a/b/b/c', 'a/.b/c']],
    ['p-????.j', ['p-2024.j', 'p-🎈ééé.j'], ['p-204.j', 'p-20244.j', 'p-2/24.j']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x', '-x', 'Ax']],
    ['[!a-c]x', ['dx', '!x'], ['ax', 'bx']],
    ['[^a]x', ['bx'], ['ax']],
    ['[]]x', [']x'], ['[x']],
    ['[!]]x', ['ax'], [']x']],
    ['[[]x', ['[x'], [']x']],
    ['[*]x', ['*x'], ['ax']],
    ['[a-]x', ['ax', '-x'], ['bx']],
    ['**', ['a', 'ab'], ['a/b', '.a']],
    ['.*', ['.a'], ['a']],
    ['a.b', ['a.b'], ['aXb']],
    ['(a|b)+$', ['(a|b)+$'], ['a']],
    ['*a*b*c*', ['abc', 'xaxbxcx', 'aabbcc'], ['acb', 'ab']],
  ] as const) {
    test(pattern, () => {
      checkPattern(pattern);
      const matches = nameMatcher(pattern);
      for (const name of yes) assert.ok(matches(name), name);
      for (const name of no) assert.ok(!matches(name), name);
    });
  }

  test('the same as a regular expression', (t) => {
    const part = fc.string({
      unit: fc.constantFrom('a', 'b', '*', '?'),
      maxLength: 8,
      minLength: 1,
    });
    const name = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
    for (const seed of seedsOf(t))
      fc.assert(
        fc.property(part, name, (pattern, text) => {
          const expression = pattern.replaceAll('*', '.*').replaceAll('?', '.');
          assert.equal(nameMatcher(pattern)(text), new RegExp(`^${expression}$`).test(text));
        }),
        { seed, numRuns: 2_000 },
      );
  });

  test('many stars cost no more than pattern x name', () => {
    const startedMs = performance.now();
    assert.ok(!nameMatcher(`${'*a'.repeat(500)}b`)('a'.repeat(1_000)));
    assert.ok(performance.now() - startedMs < 5_000);
  });

  test('invalid patterns', () => {
    for (const pattern of ['', '[a', 'a[', '[]', '[!]', 'a\nb', 'x'.repeat(1_025)]) {
      assert.throws(
        () => {
          checkPattern(pattern);
        },
        failing(/pattern/, false),
      );
    }
    assert.equal(literalHead('a/b*c/[d'), 'a/b');
    assert.equal(literalHead('a/b'), 'a/b');
  });
});

const order = (since: Position | undefined): PullOrder => ({
  owner: { accountId: 'a', workspace: 'WS' },
  definition: { type: 'FILE', path: '*' },
  credential: undefined,
  since,
  landing: {
    folder: '',
    bytesMax: 1,
    signal: new AbortController().signal,
    nowMs: 0,
    onBytes: () => undefined,
  },
});

function pull(
  items: Iterable<Listed>,
  since: Position | undefined,
  most: number,
  remembered: number,
) {
  const listing = openListing(order(since), remembered);
  for (const item of items) listing.add(item);
  const names: string[] = [];
  let position = since;
  for (const fresh of listing.fresh()) {
    names.push(fresh.item.name);
    ({ position } = fresh);
    if (names.length === most) break;
  }
  return { names, position: JSON.parse(JSON.stringify(position ?? null)) ?? undefined };
}

const item = (name: string, time: number, version = 1): Listed => ({
  name,
  bytes: 1,
  time: String(time).padStart(6, '0'),
  version: String(version),
});

describe('new items of a listing', () => {
  test('each version once, in any history that the memory holds', (t) => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      time: fc.nat(5),
      version: fc.nat(2),
      most: fc.integer({ min: 1, max: 3 }),
      isRemoved: fc.boolean(),
    });
    for (const seed of seedsOf(t))
      fc.assert(
        fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
          const there = new Map<string, Listed>();
          const had = new Set<string>();
          let position: Position | undefined;
          for (const { name, time, version, most, isRemoved } of steps) {
            if (isRemoved) there.delete(name);
            else there.set(name, item(name, time, version));
            // A removed item is forgotten.
            const now = new Set([...there.values()].map((one) => `${one.name} ${one.version}`));
            const expected = [...there.values()]
              .filter((one) => !had.has(`${one.name} ${one.version}`))
              .sort((a, b) => (`${a.time} ${a.name}` < `${b.time} ${b.name}` ? -1 : 1))
              .slice(0, most)
              .map((one) => one.name);
            const result = pull(there.values(), position, most, 100);
            assert.deepEqual(result.names, expected);
            ({ position } = result);
            if (expected.length === 0) continue;
            for (const mark of had) if (!now.has(mark)) had.delete(mark);
            for (const one of expected) had.add(`${one} ${there.get(one)?.version}`);
          }
        }),
        { seed, numRuns: 500 },
      );
  });

  test('a full memory evicts its oldest item, and accepts nothing older any more', () => {
    const items = Array.from({ length: 20 }, (_, n) => item(`n${n + 10}`, n));
    const first = pull(items, undefined, Infinity, 5);
    assert.equal(first.names.length, 20);
    assert.deepEqual(pull(items, first.position, Infinity, 5).names, []);
    const late = [item('older', 3), item('late', 17), item('new', 30)];
    assert.deepEqual(pull([...items, ...late], first.position, Infinity, 5).names, ['late', 'new']);
    assert.ok(JSON.stringify(first.position).length < 200);
  });

  test('a pull that ended in the middle goes on there, with a memory of any size', () => {
    const items = Array.from({ length: 20 }, (_, n) => item(`n${n + 10}`, n % 3));
    const names: string[] = [];
    let position: Position | undefined;
    for (let count = 0; count < 10; count += 1) {
      const result = pull(items, position, 3, 4);
      names.push(...result.names);
      ({ position } = result);
    }
    assert.equal(names.length, 20);
    assert.equal(new Set(names).size, 20);
  });

  test('a listing has a limit', () => {
    const listing = openListing(order(undefined));
    for (let n = 0; n < 100_000; n += 1) listing.add(item(String(n), n));
    assert.throws(
      () => {
        listing.add(item('x', 1));
      },
      failing(/at most 100000/, false),
    );
  });
});
