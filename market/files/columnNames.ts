// Column names of vendors, compared by their letters and digits alone.

/** `<CLOSE>`, `Adj Close`, `1. open`, `Close (USD)`, `Eröffn.` in lower case, without marks and accents. */
export function normalizeColumn(column: string): string {
  const unit = column.indexOf('(');
  return (unit > 0 ? column.slice(0, unit) : column)
    .replace(/^\d{1,2}\. /, '')
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}
