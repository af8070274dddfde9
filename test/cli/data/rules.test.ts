// `tapedeck rule`: a rule in one line is created, backtested, inspected and removed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { parseRuleLine } from '../../../cli/rules/ruleLine.ts';
import { openRuleServer, type RuleServer } from '../../api/rules/ruleServer.ts';
import { runHere } from '../commandHere.ts';

let folder = '';
let rules: RuleServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-rule-'));
  rules = await openRuleServer({}, folder);
  await writeServerFile(folder, { base: rules.server.base });
});
afterAll(async () => {
  await rules[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const run = async (
  ...args: readonly string[]
): Promise<{ code: number | null; out: string; err: string }> => {
  const env = {
    TAPEDECK_DATA: folder,
    TAPEDECK_LOG: 'silent',
    TAPEDECK_PUBLISHABLE_TOKEN: rules.server.publishable,
    TAPEDECK_SECRET_TOKEN: rules.server.secret,
  };
  const { code, stderr, stdout } = await runHere(['rule', ...args], { env });
  return { code, out: stdout, err: stderr };
};

test.each([
  [
    'aapl latestPrice > 150 and changePercent < -2%',
    { ruleSet: 'AAPL', type: 'all' },
    [
      ['latestPrice', '>', 150],
      ['changePercent', '<', -0.02],
    ],
  ],
  [
    'any dividendToday or sector is "Utilities" or sector is not Energy',
    { ruleSet: 'ANYEVENT', type: 'any' },
    [
      ['dividendToday', 'true', true],
      ['sector', '==', 'Utilities'],
      ['sector', '!=', 'Energy'],
    ],
  ],
  [
    'BRK.B latestPrice>=week52High and time within 09:30:00-16:00:00 and isHalted = false',
    { ruleSet: 'BRK.B', type: 'all' },
    [
      ['latestPrice', '>=', 'week52High'],
      ['time', 'within', '09:30:00 - 16:00:00'],
      ['isHalted', '==', false],
    ],
  ],
])('%s', (line, expected, conditions) => {
  expect(parseRuleLine(line)).toEqual({ ...expected, conditions });
});

test.each([
  ['', /begins with a symbol/],
  ['AAPL', /a condition is missing here\n {2}AAPL\n {6}\^/],
  ['AAPL latestPrice >', /is missing\n.*\n {20}\^/],
  ['AAPL latestPrice above 3', /an operator is one of .*\n.*\n {19}\^/],
  ['AAPL latestPrice > 1 and change < 2 or open > 3', /not by both\n.*\n {38}\^/],
  ['AAPL latestPrice > 1 change < 2', /and or or is missing before this\n.*\n {23}\^/],
])('%s is refused with the place of the error', (line, rule) => {
  expect(() => parseRuleLine(line)).toThrow(rule);
});

test('a rule is created, inspected, paused and removed', async () => {
  const line = 'AAA latestPrice > 12';
  const tested = await run('test', line, '--step', 'day', '--from', '2024-02-01');
  expect(tested.out).toContain('latestPrice > 12: 0 times');
  const result = await run('add', line, '--every', '5m', '--also', 'changePercent', '--json');
  const { id, weight } = JSON.parse(result.out) as { id: string; weight: number };
  expect([result.code, weight]).toEqual([0, 2]);
  await rules.settled();
  rules.trade('AAA', 12.5);
  expect((await run('log', id)).out).toMatch(/AAA\s+│ logged/);
  const why = await run('why', id);
  expect(why.out).toContain('it passes\n  holds: latestPrice > 12 (latestPrice is 12.5)');
  expect((await run('list')).out).toContain(line);
  expect((await run('show', id)).out).toMatch(/"frequency":300/);
  expect((await run('pause', id)).out).toContain('is paused');
  expect((await run('pause', id)).code).not.toBe(0);
  expect((await run('remove', id)).out).toContain('is removed');
  const bad = await run('add', 'AAA latestprice > 12');
  expect([bad.code !== 0, bad.err]).toEqual([true, expect.stringContaining('no known value')]);
});
