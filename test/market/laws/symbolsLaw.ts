// Law: DuckDB stores a symbol as pushes do, and a stored symbol stays unchanged when it is loaded again.
import { DuckDBInstance } from '@duckdb/node-api';
import { symbolExpression } from '../../../pipeline/values/symbols.ts';
import { normalizeSymbol } from '../../../store/lake/datasets/symbolSpelling.ts';
import { type Report, seeded } from '../../soak/crash/rounds/seeded.ts';

interface LawOptions {
  readonly seed: number;
  readonly count: number;
}

const SIGNS = [...'ABPRLabprl019./-$ ^='];
const SIGNS_MAX = 8;
const LETTERS = [...'ABPRLp'];
const BETWEEN = [
  ' ',
  '  ',
  '/',
  '-',
  '.',
  '$',
  'p',
  ' PR',
  ' PR ',
  '.PR.',
  '-PR',
  '/PR',
  '.Pr',
] as const;

export async function symbolsLaw({ count, seed }: LawOptions): Promise<Report> {
  const random = seeded(seed);
  const from = (signs: readonly string[], least: number, most: number): string =>
    Array.from(
      { length: random.between(least, most) },
      () => signs[random.between(0, signs.length - 1)] ?? '',
    ).join('');
  // Half of them are close to spellings that are rewritten.
  const texts = Array.from({ length: count }, () =>
    random.chance(0.5)
      ? from(SIGNS, 1, SIGNS_MAX)
      : from(LETTERS, 1, 5) + random.pick(BETWEEN) + from(LETTERS, 0, 2),
  );
  const stored = await symbolsStored(texts);
  const failures = texts.flatMap((text, at) => {
    const symbol = normalizeSymbol(text);
    const message = `seed ${seed}: ${JSON.stringify(text)} is ${symbol}`;
    if (stored[at] !== symbol) return [`${message}, in DuckDB ${String(stored[at])}`];
    return normalizeSymbol(symbol) === symbol
      ? []
      : [`${message}, and loaded again ${normalizeSymbol(symbol)}`];
  });
  const changed = texts.filter((text) => normalizeSymbol(text) !== text.trim().toUpperCase());
  const notes = [`${changed.length} of ${count} symbols spelled otherwise`];
  return { seed, count, failures: failures.slice(0, 10), notes };
}

/** The symbols as a load stores them. */
export async function symbolsStored(texts: readonly string[]): Promise<readonly unknown[]> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const values = texts.map((text) => `('${text}')`).join(', ');
  const statement = `SELECT ${symbolExpression('t')} AS symbol FROM (VALUES ${values}) AS v(t)`;
  const rows = (await connection.runAndReadAll(statement)).getRowObjectsJS();
  connection.closeSync();
  instance.closeSync();
  return rows.map(({ symbol }) => symbol);
}
