// All statements of a period as one record (INTERFACE.md 1 "financials").

/** Amounts by their names; values that a statement lacks are missing. */
type Amounts = Readonly<Record<string, number | undefined>>;

/** @param statements income, balance sheet and cash flow; a name of several is that of the first */
export function mergeStatements(statements: readonly Amounts[]): Readonly<Record<string, number>> {
  const merged: Amounts = Object.assign({}, ...[...statements].reverse()) as Amounts;
  const {
    currentCash,
    currentLongTermDebt: currentDebt,
    depreciation,
    ebit,
    longTermDebt,
  } = merged;
  const all: Amounts = {
    ...merged,
    operatingRevenue: merged['totalRevenue'],
    currentDebt,
    shortTermDebt: currentDebt,
    totalCash: sumOf(currentCash, merged['shortTermInvestments']),
    totalDebt: sumOf(currentDebt, longTermDebt),
    EBITDA: ebit === undefined ? undefined : sumOf(ebit, depreciation),
  };
  const present = Object.entries(all).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  );
  return Object.fromEntries(present);
}

/** Sum of the values that exist; undefined where none does. */
const sumOf = (...values: readonly (number | undefined)[]): number | undefined => {
  const present = values.filter((value) => value !== undefined);
  return present.length === 0 ? undefined : present.reduce((sum, value) => sum + value, 0);
};
