import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { contractsLaw } from './contracts.ts';
import { cursorsLaw } from './history/cursors.ts';
import { downloadsLaw } from './downloads.ts';
import { csvFilesLaw } from './formats/csvFiles.ts';
import { formatsLaw } from './formats/formats.ts';
import { historyLaw } from './history/histories.ts';
import { limitsLaw } from './limits.ts';
import { memoryLaw } from './memory.ts';
import { meteringLaw } from './metering.ts';
import { momentsLaw } from './history/moments.ts';
import { secondFileLaw } from './history/secondFile.ts';
import { tablesLaw } from './tables.ts';
import { rotLaw } from './rot.ts';
import { backtestLaw } from './backtest.ts';
import { rulesLaw } from './rules.ts';

/** Full count: 1,000,000 calls, by `npm run soak metering`. */
const CALLS = 200;

test('64 callers: the headers add up to ledger, usage and journal', async (t) => {
  for (const seed of seedsOf(t)) note(t, `${await meteringLaw(CALLS, seed)} messages`);
});

/** Full count: 500 cases of 64 calls, by `npm run soak limits`. */
const CASES = 5;

test('64 callers at a limit: as many calls pass as it covers, not one more', async (t) => {
  for (const seed of seedsOf(t)) note(t, `${await limitsLaw(CASES, seed)} calls passed`);
});

/** Full count: 1,000 races, by `npm run soak downloads`. */
const RACES = 10;

test('an address downloads a file once, however many clients race for it', async (t) => {
  for (const seed of seedsOf(t)) note(t, await downloadsLaw(RACES, seed));
});

/** Full count: 1,000 histories, by `npm run soak histories`. */
const STEPS = 12;

test('any history gives the same answers as plain maps', async (t) => {
  for (const seed of seedsOf(t)) note(t, `${await historyLaw(STEPS, seed)} records`);
});

/** Full count: 20,000 files, by `npm run soak csv-files`. */
const CSV_FILES = 60;

test('each line of a polluted CSV is a record, a reject or in a note', async (t) => {
  for (const seed of seedsOf(t)) note(t, await csvFilesLaw(CSV_FILES, seed));
});

/** Full count: 5,000 tables, by `npm run soak tables`. */
const TABLES = 10;

test('a table that is loaded without options is returned completely by every endpoint', async (t) => {
  for (const seed of seedsOf(t)) note(t, JSON.stringify(await tablesLaw(TABLES, seed)));
});

/** Full count: 10,000 sequences, by `npm run soak second-files`. */
const SEQUENCES = 4;

test('any sequence of files, pushes and pulls stores the received records', async (t) => {
  for (const seed of seedsOf(t)) note(t, `${await secondFileLaw(SEQUENCES, seed)} steps`);
});

/** Full count: 400 histories of 40 steps, by `npm run soak moments`. */
const MOMENT_STEPS = 8;

test('an answer is repeatable byte for byte on every endpoint', async (t) => {
  for (const seed of seedsOf(t)) note(t, `${await momentsLaw(MOMENT_STEPS, seed)} answers`);
});

/** Full count: 400 rounds, by `npm run soak cursors`. */
const CURSOR_ROUNDS = 1;

test('a named query returns the pushes of 4 writers exactly once', async (t) => {
  for (const seed of seedsOf(t)) note(t, `${await cursorsLaw(CURSOR_ROUNDS, seed)} records`);
});

/** Full count: 10,000 steps, by `npm run soak memory`. */
const INTERLEAVINGS = 20;

test('memory answers as the files do, byte for byte, with all acknowledged records', async (t) => {
  for (const seed of seedsOf(t)) note(t, await memoryLaw(INTERLEAVINGS, seed));
});

/** Full count: 2,000 requests, by `npm run soak formats`. */
const ANSWERS = 8;

test('one answer has the same content in every format', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...figures } = await formatsLaw(ANSWERS, seed);
    note(t, JSON.stringify(figures));
    assert.ok(failures.length === 0, failures.slice(0, 3).join('\n'));
    assert.ok(figures.rows > ANSWERS, JSON.stringify(figures));
  }
});

/** Full count: 2,000 cases of 3 loads, by `npm run soak contracts`. */
const CONTRACTS = 2;

test('with any contract, every record is accounted for, and stored records fit', async (t) => {
  for (const seed of seedsOf(t)) note(t, `${await contractsLaw(CONTRACTS, seed)} records`);
});

/** Full count: 1,000 flips, by `npm run soak rot`. */
const FLIPS = 25;

test('a flipped bit in a file is never returned as a value', async (t) => {
  const sums = { damaged: 0, right: 0 };
  for (const seed of seedsOf(t)) {
    const { failures, ...figures } = await rotLaw(FLIPS, seed);
    note(t, JSON.stringify(figures));
    assert.ok(failures.length === 0, failures.slice(0, 3).join('\n'));
    sums.damaged += figures.damaged;
    sums.right += figures.right;
  }
  // One seed in 30 flips no bit that its requests read.
  assert.ok(sums.damaged > 0 && sums.right > 0, JSON.stringify(sums));
});

/** Full count: 10,000 rules, by `npm run soak rules`. */
const RULES = 100;

test('rules fire like a naive engine: time, symbol and order', (t) => {
  for (const seed of seedsOf(t)) note(t, rulesLaw(RULES, seed));
});

/** Full count: 600 rules, by `npm run soak backtest`. */
const TRIED = 6;

test('a backtest of a rule fires as the rule did on that day', async (t) => {
  for (const seed of seedsOf(t)) note(t, await backtestLaw(TRIED, seed));
});
