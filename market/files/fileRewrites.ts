// Rewrites of vendors' files before their columns become properties of an input: a column of times as day and
// minute, a split's text as two numbers, symbols without a vendor's suffix, and the dividends and splits of a
// daily file without days that have none.
import type { FileColumns, FileRewrite, RewriteFile } from '../../store/lake/datasets/defaults.ts';
import type { Input, InputId } from '../inputs/inputRow.ts';
import { normalizeColumn } from './columnNames.ts';
import { isNoSplit, parseSplit } from './splitText.ts';
import { findVendor, recogniseVendor, type Vendor } from './vendors.ts';

/** Minutes and days are those of the exchange (docs/reference/market.md "INTRADAY_PRICES"). */
const EXCHANGE_ZONE = 'America/New_York';

/** Declarations of a column that becomes several properties. */
const BOTH = { moment: 'date+minute', split: 'fromFactor+toFactor' } as const;

/** Normalized column names, the most reliable first. */
const TIMES = [
  'datetime',
  'timestamp',
  'windowstart',
  'opentime',
  'date',
  'time',
  'datum',
  'fecha',
  't',
];
const MINUTES = ['minute', 'min', 'time', 'zeit', 'uhrzeit', 'heure', 'hora'];
const SYMBOLS = ['symbol', 'ticker', 'sym', 'code'];
const RATIOS = [
  'stocksplits',
  'stocksplit',
  'splitfactor',
  'splitcoefficient',
  'splitratio',
  'splits',
  'split',
];
const SHARES = ['fromfactor', 'splitfrom', 'forfactor', 'tofactor', 'splitto'];
const DIVIDENDS = ['dividends', 'divcash', 'dividendamount'];
const CLOSES = ['close', 'adjclose', 'adjustedclose', 'closelast'];
/** Columns of actions in a daily file, by their input. */
export interface ActionColumn {
  readonly input: 'DIVIDENDS' | 'SPLITS';
  readonly column: string;
}

export function findActionColumns(columns: readonly string[]): readonly ActionColumn[] {
  if (!columns.some((column) => CLOSES.includes(normalizeColumn(column)))) return [];
  const dividends = findColumn(columns, DIVIDENDS);
  const splits = findColumn(columns, RATIOS);
  return [
    ...(dividends === undefined ? [] : [{ input: 'DIVIDENDS', column: dividends } as const]),
    ...(splits === undefined ? [] : [{ input: 'SPLITS', column: splits } as const]),
  ];
}

/** The column with the most reliable name. */
function findColumn(columns: readonly string[], names: readonly string[]): string | undefined {
  for (const name of names) {
    const match = columns.find((column) => normalizeColumn(column) === name);
    if (match !== undefined) return match;
  }
  return undefined;
}

export const fileRewrite =
  (input: Input): RewriteFile =>
  (file) => {
    const vendor = findVendor(file.vendor);
    const parts = [
      momentPart(input, file),
      splitPart(input, file),
      symbolPart(input, file, vendor),
      actionPart(input, file),
    ].filter((part) => part !== undefined);
    const constants = adjustedConstant(input, file, vendor);
    const notes = vendorNotes(input, file, vendor);
    if (parts.length + notes.length + Object.keys(constants).length === 0) return undefined;
    return {
      ...Object.assign({}, ...parts),
      columns: Object.assign({}, ...parts.map((part) => part.columns ?? {})),
      excluded: parts.flatMap((part) => part.excluded ?? []),
      constants,
      notes,
    };
  };

type Part = Partial<FileRewrite>;

/** Undefined where another column, or a constant, is the minute. */
function momentPart({ properties }: Input, file: FileColumns): Part | undefined {
  const declared = declaredAs(file, BOTH.moment);
  const has = (name: string): boolean => properties.some((one) => one.name === name);
  if (declared !== undefined && has('minute')) return momentOf(declared);
  if (!file.guess) return undefined;
  if (!has('minute') || !isOpen(file, 'minute') || !isOpen(file, 'date')) return undefined;
  const columns = openColumns(file);
  const time = findColumn(columns, TIMES);
  const minute = findColumn(
    columns.filter((column) => column !== time),
    MINUTES,
  );
  return time === undefined || minute !== undefined ? undefined : momentOf(time);
}

const momentOf = (column: string): Part => ({
  columns: { [column]: BOTH.moment },
  moment: { column, day: 'date', minute: 'minute', zone: EXCHANGE_ZONE },
});

function splitPart({ id }: Input, file: FileColumns): Part | undefined {
  if (id !== 'SPLITS') return undefined;
  const isGuessed =
    file.guess &&
    isOpen(file, 'fromFactor') &&
    isOpen(file, 'toFactor') &&
    findColumn(openColumns(file), SHARES) === undefined;
  const column =
    declaredAs(file, BOTH.split) ?? (isGuessed ? findColumn(openColumns(file), RATIOS) : undefined);
  if (column === undefined) return undefined;
  return {
    columns: { [column]: BOTH.split },
    split: {
      column,
      from: 'fromFactor',
      to: 'toFactor',
      parse: parseSplit,
      isNone: isNoSplit,
    },
  };
}

/** Only for a declared vendor: symbols are not changed by a guess. */
function symbolPart(
  { properties }: Input,
  file: FileColumns,
  vendor: Vendor | undefined,
): Part | undefined {
  if (vendor?.suffix === undefined || !properties.some(({ name }) => name === 'symbol')) {
    return undefined;
  }
  const names = file.guess ? SYMBOLS : ['symbol'];
  const column = declaredAs(file, 'symbol') ?? findColumn(openColumns(file), names);
  return column === undefined ? undefined : { symbol: { column, suffix: vendor.suffix } };
}

/** Drops prices of a daily file, and days without an action. */
function actionPart({ id }: Input, file: FileColumns): Part | undefined {
  const action = findActionColumns(file.columns).find(({ input }) => input === id);
  if (action === undefined) return undefined;
  const keptColumns = new Set([action.column, ...Object.keys(file.declared)]);
  const named = [...SYMBOLS, ...TIMES];
  const leftOut = file.columns.filter(
    (column) => !keptColumns.has(column) && !named.includes(normalizeColumn(column)),
  );
  return { excluded: leftOut, ...(id === 'DIVIDENDS' ? { nonZero: action.column } : {}) };
}

/** A declared vendor also declares the adjustment of its prices. */
function adjustedConstant(
  { id }: Input,
  { columns, constants, declared }: FileColumns,
  vendor: Vendor | undefined,
): Readonly<Record<string, boolean>> {
  const isGiven =
    constants.includes('isSplitAdjusted') ||
    Object.values(declared).includes('isSplitAdjusted') ||
    columns.includes('isSplitAdjusted');
  return id === 'HISTORICAL_PRICES' && vendor?.prices === 'split-adjusted' && !isGiven
    ? { isSplitAdjusted: true }
    : {};
}

const PRICED: ReadonlySet<InputId> = new Set(['HISTORICAL_PRICES', 'INTRADAY_PRICES']);

function vendorNotes(
  { id }: Input,
  { columns, constants, guess }: FileColumns,
  declared: Vendor | undefined,
): readonly string[] {
  if (!PRICED.has(id)) return [];
  const actions = id === 'HISTORICAL_PRICES' ? findActionColumns(columns) : [];
  const actionNotes = actions.map(
    ({ column, input }) =>
      `note: column ${column} is kept here only; load the file again as ${input} ` +
      '(core load --with-actions loads it too)',
  );
  const vendor = declared === undefined && guess ? recogniseVendor(columns) : undefined;
  return vendor === undefined
    ? actionNotes
    : [recognisedNote(vendor, id, constants.includes('isSplitAdjusted')), ...actionNotes];
}

function recognisedNote({ id, prices, suffix, title }: Vendor, input: InputId, isGiven: boolean) {
  const adjusts = prices === 'split-adjusted' && input === 'HISTORICAL_PRICES' && !isGiven;
  const means = [
    ...(adjusts ? ['its prices are split-adjusted'] : []),
    ...(suffix === undefined ? [] : [`its symbols end in ${suffix}`]),
  ];
  const rule = means.length === 0 ? '' : `; with vendor=${id} (--vendor ${id}) ${means.join(', ')}`;
  return `note: the columns are those of ${title}${rule}`;
}

const declaredAs = ({ declared }: FileColumns, property: string): string | undefined =>
  Object.entries(declared).find(([, name]) => name === property)?.[0];

/** Whether no column or constant is declared as the property, and no column has its name. */
const isOpen = ({ columns, constants, declared }: FileColumns, property: string): boolean =>
  !constants.includes(property) &&
  !Object.values(declared).some((name) => name?.split('+').includes(property) === true) &&
  !columns.some((column) => column.toLowerCase() === property.toLowerCase() && property !== 'date');

const openColumns = ({ columns, declared }: FileColumns): readonly string[] =>
  columns.filter((column) => !Object.hasOwn(declared, column));
