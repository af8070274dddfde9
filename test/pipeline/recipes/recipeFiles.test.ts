// Every recipe is complete and has a test with a fixture; a broken recipe is named with its member.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'vitest';
import {
  checkRecipe,
  type Recipe,
  readRecipe,
  recipeNames,
} from '../../../cli/pipeline/recipeFile.ts';
import { buildRecipeOrder } from '../../../cli/pipeline/recipeOrder.ts';

const names = await recipeNames();
/** For parameters without a default. */
const PARAMETERS: Readonly<Record<string, string>> = {
  series: 'DGS10',
  symbol: 'AAPL',
  cik: '320193',
  concept: 'Assets',
  contact: 'Jane Doe jane@example.com',
};
const setOf = ({ parameters }: Recipe, more: Readonly<Record<string, string>> = {}): string[] =>
  parameters.flatMap(({ name }) => {
    const value = more[name] ?? PARAMETERS[name];
    return value === undefined ? [] : [`${name}=${value}`];
  });

test('every recipe is valid, has a test that publishes a fixture, and a line in the README', async () => {
  assert.ok(names.length >= 7);
  const readme = await readFile(new URL('../../../recipes/README.md', import.meta.url), 'utf8');
  for (const name of names) {
    const order = buildRecipeOrder(await readRecipe(name), { set: setOf(await readRecipe(name)) });
    assert.ok(URL.canParse(order.source.url), name);
    assert.doesNotMatch(JSON.stringify(order), /\$\{/, `${name} is filled whole`);
    const file = new URL(`${name}.test.ts`, import.meta.url);
    assert.ok(existsSync(file), `test/pipeline/recipes/${name}.test.ts is missing`);
    const text = await readFile(file, 'utf8');
    assert.ok(
      text.includes(`'${name}'`) && text.includes('run.publish('),
      `${name} has no fixture`,
    );
    assert.ok(readme.includes(`${name}.json`), `recipes/README.md does not name ${name}.json`);
  }
});

test('a broken recipe is named with its member', async () => {
  const good = await readRecipe('fred-series');
  const [series] = good.parameters;
  assert.ok(series !== undefined);
  const broken: readonly (readonly [change: object, fault: RegExp])[] = [
    [{ title: 7 }, /fred-series: title must be string/],
    [{ author: 'me' }, /author is not known/],
    [{ name: 'other' }, /name must be that of the file/],
    [{ about: { what: 'a', record: 'b', changes: 'c' } }, /about must have required.*terms/],
    [{ source: { ...good.source, url: 'http://example.com/' } }, /source\.url must match/],
    [{ parameters: [] }, /source uses series, which is no parameter/],
    [{ parameters: [series, series] }, /parameters must not name one twice/],
    [{ parameters: [series, { ...series, name: 'idle' }] }, /parameters\.1\.name is not used/],
    [{ parameters: [{ ...series, pattern: '[' }] }, /parameters\.0\.pattern is no pattern/],
    [{ parameters: [{ ...series, default: 'a b' }] }, /parameters\.0\.default must fit/],
    [
      { dataset: { ...good.dataset, columnMapping: { date: 'day' } } },
      /dataset\.columnMapping\.date must be a property/,
    ],
    [{ schedule: { ...good.schedule, missedRuns: 'never' } }, /schedule\.missedRuns must be/],
  ];
  for (const [change, fault] of broken) {
    assert.throws(() => checkRecipe('fred-series', { ...good, ...change }), fault);
  }
  assert.throws(() => checkRecipe('fred-series', undefined), /fred-series: it must be object/);
  await assert.rejects(readRecipe('../package'), /there is no recipe \.\.\/package/);
});

const ESCAPES = [
  '../x',
  '..',
  '.',
  'a/../b',
  'a?x=1',
  'a&id=b',
  'a#b',
  'a b',
  'a\nb',
  'a\r\nHost: b',
  'a\0b',
  'a%2Fb',
  '@b',
  '${series}',
  '{dd}',
  'x'.repeat(201),
  '',
];

test('a parameter that would leave its place is refused, by name', async () => {
  for (const name of names) {
    const recipe = await readRecipe(name);
    for (const parameter of recipe.parameters) {
      for (const escape of ESCAPES) {
        const set = setOf(recipe).filter((one) => !one.startsWith(`${parameter.name}=`));
        const refused = new RegExp(`parameter ${parameter.name} must`);
        assert.throws(
          () => buildRecipeOrder(recipe, { set: [...set, `${parameter.name}=${escape}`] }),
          refused,
          `${name} ${parameter.name} ${JSON.stringify(escape)}`,
        );
      }
    }
  }
});

test('a value of a lax pattern is still one segment or one value, dots alone are refused', async () => {
  const good = await readRecipe('fred-series');
  const [series] = good.parameters;
  assert.ok(series !== undefined);
  const lax = {
    ...good,
    source: { ...good.source, url: 'https://example.com/a/${series}/b?id=${series}' },
    parameters: [{ ...series, pattern: '.*' }],
  };
  const urlOf = (value: string): URL =>
    new URL(buildRecipeOrder(lax, { set: [`series=${value}`] }).source.url);
  for (const value of [
    '../../x',
    '/x',
    '?x=1',
    '&x=1',
    '#x',
    'a b',
    '@evil.example',
    '\\x',
    '%2e',
  ]) {
    const { hash, origin, pathname, searchParams } = urlOf(value);
    assert.equal(origin, 'https://example.com');
    assert.deepEqual([pathname.split('/').length, hash, [...searchParams.keys()]], [4, '', ['id']]);
    assert.equal(searchParams.get('id'), value);
    assert.equal(decodeURIComponent(pathname.split('/')[2] ?? ''), value);
  }
  for (const dots of ['.', '..']) assert.throws(() => urlOf(dots), /parameter series must not be/);
});

test('parameters are missing, unknown, twice or misspelled; a base is an origin', async () => {
  const recipe = await readRecipe('fred-series');
  const refused = (set: readonly string[], base?: string): unknown => {
    try {
      return buildRecipeOrder(recipe, base === undefined ? { set } : { set, base }).source.url;
    } catch (error) {
      return error instanceof Error ? error.message : error;
    }
  };
  assert.match(String(refused([])), /parameter series must be set \(--set series=…\)/);
  assert.match(String(refused(['serie=A'])), /has no parameter serie: it has series/);
  assert.match(String(refused(['series=A', 'series=B'])), /parameter series is set twice/);
  assert.match(String(refused(['series'])), /--set must be written as name=value/);
  const good = ['series=A'];
  for (const base of ['ftp://a/', 'http://a/b', 'http://u:p@a', 'http://a?b', 'a', 'http://', '']) {
    assert.match(String(refused(good, base)), /--base must be the origin/, base);
  }
  const based = 'http://127.0.0.1:8000/graph/fredgraph.csv?id=A';
  assert.equal(refused(good, 'http://127.0.0.1:8000/'), based);
  const yields = buildRecipeOrder(await readRecipe('us-treasury-yields'), {
    base: 'http://[::1]:80',
  });
  assert.match(yields.source.url, /^http:\/\/\[::1\]\/.*\/\{yyyy\}\/all\?.*=\{yyyy\}&page&/);
});
