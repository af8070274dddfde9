// Texts that both our lowering and the second opinion read: the tables they name are the same, or the
// difference is one that is explained here.
import { Failure } from '../../../store/base/failure.ts';
import { planSql, type SqlEngine } from '../../../query/sql/run/run.ts';
import type { ParameterValues } from '../../../query/sql/text/spelling.ts';
import { seeded } from '../../soak/crash/rounds/seeded.ts';
import { allAttacks } from '../../soak/fuzz/sql/attacks.ts';
import { hostileText } from '../../soak/fuzz/sql/texts.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { randomSelect } from './random/randomSelects.ts';
import {
  differenceOf,
  planTables,
  secondOpinion,
  type Difference,
  type TableNames,
} from './secondOpinion.ts';
import { allSuites } from './slt.ts';

interface OpinionText {
  readonly name: string;
  readonly sql: string;
  /** JSON text. */
  readonly parameters?: string | undefined;
}

interface Explained {
  readonly why: string;
  explains(difference: Difference, ours: TableNames, sql: string): boolean;
}

/** Each is shown by a text of the suites or of the attacks. */
export const EXPLAINED: readonly Explained[] = [
  {
    why: 'a hyphen is part of a name to it, so that it takes the dashes of a comment for letters',
    // Without its dashes each is a table of our plan.
    explains: ({ added, missing }, ours) =>
      missing.every((name) => name.includes('--') && ours.has(name.split('--')[0] ?? '')) &&
      added.every((name) => missing.some((other) => other.startsWith(`${name}--`))),
  },
];

/** The texts that never change. */
export const writtenTexts = (): readonly OpinionText[] => [
  ...allSuites().flatMap(({ cases }) =>
    cases.map(({ file, line, parameters, sql }) => ({ name: `${file}:${line}`, sql, parameters })),
  ),
  ...allAttacks(),
];

/** Valid SELECTs and hostile texts by turns; text `n` depends on seed and `n` alone. */
const randomTexts = (count: number, seed: number): readonly OpinionText[] =>
  Array.from({ length: count }, (_, at) => {
    const random = seeded(seed * 1_000_003 + at);
    const sql = at % 2 === 0 ? randomSelect(random) : hostileText(random);
    return { name: `seed ${seed}, text ${at}`, sql };
  });

interface OpinionsReport {
  /** Failures with a table that only the second opinion names come first. */
  readonly failures: readonly string[];
  readonly compared: number;
  /** Texts that our parser reads, and the other one does not. */
  readonly onlyOurs: number;
  /** Texts that the other parser reads, and ours refuses. */
  readonly onlyTheirs: number;
  /** Texts by the reason of their difference. */
  readonly explained: Readonly<Record<string, number>>;
}

export async function compareOpinions(
  { tapedeck }: Pick<TestServer, 'tapedeck'>,
  texts: readonly OpinionText[],
): Promise<OpinionsReport> {
  const faults: { readonly text: string; readonly missing: number }[] = [];
  const counts = { compared: 0, onlyOurs: 0, onlyTheirs: 0 };
  const explained: Record<string, number> = {};
  for (const { name, parameters = '{}', sql } of texts) {
    const values = JSON.parse(parameters) as ParameterValues;
    const ours = await planned(sql, values, tapedeck.services.sql);
    const theirs = secondOpinion(sql);
    if (ours !== undefined && theirs !== undefined) counts.compared += 1;
    else if (ours !== undefined) counts.onlyOurs += 1;
    else if (theirs !== undefined) counts.onlyTheirs += 1;
    if (ours === undefined || theirs === undefined) continue;
    const difference = differenceOf(ours, theirs);
    if (difference === undefined) continue;
    const explanation = EXPLAINED.find((one) => one.explains(difference, ours, sql));
    if (explanation !== undefined)
      explained[explanation.why] = (explained[explanation.why] ?? 0) + 1;
    else
      faults.push({ text: faultText(name, difference, sql), missing: difference.missing.length });
  }
  const failures = faults.toSorted((a, b) => b.missing - a.missing).map(({ text }) => text);
  return { failures, ...counts, explained };
}

function faultText(name: string, { added, missing }: Difference, sql: string): string {
  const parts = [
    ...(missing.length > 0 ? [`our plan misses ${missing.join(', ')}`] : []),
    ...(added.length > 0 ? [`only our plan has ${added.join(', ')}`] : []),
  ];
  return `${name}: ${parts.join('; ')}\n${sql}`;
}

/** Undefined for a text that is refused. */
async function planned(
  sql: string,
  parameters: ParameterValues,
  engine: SqlEngine,
): Promise<TableNames | undefined> {
  const stays = new AbortController();
  try {
    return planTables(await planSql(sql, parameters, engine, { departure: () => stays.signal }));
  } catch (error) {
    if (error instanceof Failure && error.type === 'InvalidParameter') return undefined;
    throw error;
  }
}

export const randomOpinions = (
  server: Pick<TestServer, 'tapedeck'>,
  count: number,
  seed: number,
): Promise<OpinionsReport> => compareOpinions(server, randomTexts(count, seed));

/** Compares random texts on a new server. */
export async function opinionsLaw(count: number, seed: number): Promise<OpinionsReport> {
  await using server = await startServer({ seams: { watch: false } });
  return await randomOpinions(server, count, seed);
}
