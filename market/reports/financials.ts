// All statements of a period as one record (INTERFACE.md 1 "financials").

/** Amounts by their names; what a statement does not tell is not there. */
type Amounts = Readonly<Record<string, number | undefined>>;

/** @param statements income, balance sheet and cash flow; a name of several is that of the first */
export function financialsOf(statements: readonly Amounts[]): Readonly<Record<string, number>> {
  const told: Amounts = Object.assign({}, ...[...statements].reverse()) as Amounts;
  const { currentCash, currentLongTermDebt: currentDebt, depreciation, ebit, longTermDebt } = told;
  const all: Amounts = {
    ...told,
    operatingRevenue: told['totalRevenue'],
    currentDebt,
    shortTermDebt: currentDebt,
    totalCash: sumOf(currentCash, told['shortTermInvestments']),
    totalDebt: sumOf(currentDebt, longTermDebt),
    EBITDA: ebit === undefined ? undefined : sumOf(ebit, depreciation),
  };
  const known = Object.entries(all).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  );
  return Object.fromEntries(known);
}

/** Of those that are told; undefined where none is. */
const sumOf = (...values: readonly (number | undefined)[]): number | undefined => {
  const told = values.filter((value) => value !== undefined);
  return told.length === 0 ? undefined : told.reduce((sum, value) => sum + value, 0);
};
