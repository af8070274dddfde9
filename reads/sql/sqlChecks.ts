// Refuses parts of a query that certainly mean something else than their author intends, once its tables are
// bound.
import { noColumnRule } from '../../query/sql/lower/lowerQuery.ts';
import type { SelectPlan } from '../../query/sql/plan/selectPlan.ts';
import { refuseAt } from '../../query/sql/text/tokens.ts';
import { Failure } from '../../store/base/failure.ts';
import { toColumnType, isDateType } from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';

type Properties = Dataset['schema']['properties'];

/** @param tableProperties properties of the tables of the plan, in their order */
export function checkIntent(
  plan: SelectPlan,
  tableProperties: readonly Properties[],
  source: string,
  isStored: boolean,
): void {
  checkNames(plan, tableProperties, source);
  // A stored query was checked when it was created: columns added later must not change that.
  if (!isStored) checkQuoted(plan, tableProperties, source);
  checkDays(plan, tableProperties);
}

/** Refuses a table name in the place of a column: it would be the whole record. */
function checkNames(
  { doubtful }: SelectPlan,
  tableProperties: readonly Properties[],
  source: string,
): void {
  for (const { at, name, table } of doubtful) {
    if (hasProperty(tableProperties[table], name)) continue;
    refuseAt(source, at, noColumnRule(name));
  }
}

/** Refuses double-quoted column names: double quotes delimit texts here, but names in standard SQL. */
function checkQuoted(
  { quoted }: SelectPlan,
  tableProperties: readonly Properties[],
  source: string,
): void {
  for (const { at, name } of quoted) {
    if (!tableProperties.some((properties) => hasProperty(properties, name))) continue;
    const rule = `"${name}" is a text here, and there is a column of that name`;
    refuseAt(source, at, `${rule}: write \`${name}\` for the column, '${name}' for the text`);
  }
}

const hasProperty = (properties: Properties | undefined, name: string): boolean =>
  Object.keys(properties ?? {}).some((own) => own.toLowerCase() === name.toLowerCase());

const DAY = /^(\d{4}-\d{2}-\d{2})(?: \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?)?$/;

/** Refuses comparison with an invalid date, even if no record would be read for it. */
function checkDays({ hints }: SelectPlan, tableProperties: readonly Properties[]): void {
  for (const { column, table, values } of hints) {
    const [, property] =
      Object.entries(tableProperties[table] ?? {}).find(
        ([own]) => own.toLowerCase() === column.toLowerCase(),
      ) ?? [];
    if (property === undefined || !isDateType(toColumnType(property))) continue;
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
