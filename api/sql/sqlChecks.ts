// What is surely another thing than its writer means, once the tables of a query are known.
import type { SelectPlan } from '../../query/sql/plan/selectPlan.ts';
import { refuseAt } from '../../query/sql/text/tokens.ts';
import { Failure } from '../../store/base/failure.ts';
import { columnTypeOf, isDateType } from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';

type Properties = Dataset['schema']['properties'];

/** @param found properties of the tables of the plan, in their order */
export function checkMeant(
  plan: SelectPlan,
  found: readonly Properties[],
  source: string,
  isStored: boolean,
): void {
  checkNames(plan, found, source);
  // A stored query was checked when it was made: what its tables were given since changes nothing.
  if (!isStored) checkQuoted(plan, found, source);
  checkDays(plan, found);
}

/** A table's name that stands as a column would be its whole record. */
function checkNames({ doubtful }: SelectPlan, found: readonly Properties[], source: string): void {
  for (const { at, name, table } of doubtful) {
    if (hasProperty(found[table], name)) continue;
    refuseAt(source, at, `${name} is no column: name one`);
  }
}

/** Double quotes are around texts here, and around names where others learned SQL. */
function checkQuoted({ quoted }: SelectPlan, found: readonly Properties[], source: string): void {
  for (const { at, name } of quoted) {
    if (!found.some((properties) => hasProperty(properties, name))) continue;
    const rule = `"${name}" is a text here, and there is a column of that name`;
    refuseAt(source, at, `${rule}: write \`${name}\` for the column, '${name}' for the text`);
  }
}

const hasProperty = (properties: Properties | undefined, name: string): boolean =>
  Object.keys(properties ?? {}).some((own) => own.toLowerCase() === name.toLowerCase());

const DAY = /^(\d{4}-\d{2}-\d{2})(?: \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?)?$/;

/** A day that no calendar has is compared with nothing, also where no record would be read for it. */
function checkDays({ hints }: SelectPlan, found: readonly Properties[]): void {
  for (const { column, table, values } of hints) {
    const [, property] =
      Object.entries(found[table] ?? {}).find(
        ([own]) => own.toLowerCase() === column.toLowerCase(),
      ) ?? [];
    if (property === undefined || !isDateType(columnTypeOf(property))) continue;
    for (const value of values) {
      const day = DAY.exec(value)?.[1];
      if (day === undefined || isDay(day)) continue;
      throw new Failure(
        'InvalidParameter',
        `"sqlQuery": ${column} '${value}': there is no such day`,
      );
    }
  }
}

function isDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
