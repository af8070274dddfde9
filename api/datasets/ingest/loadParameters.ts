// Parameters and schemas that the load endpoints share.
import { lookupTable } from '../../../store/base/lookupTable.ts';
import type { Static, TSchema } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { isValid } from '../../request/body/faults.ts';
import {
  DUPLICATES,
  type DuplicateKeyHandling,
  duplicateRules,
  type DuplicateRules,
  type Duplicates,
} from '../../../pipeline/conform/duplicates.ts';
import {
  checkPropertyNames,
  PROPERTIES_MAX,
  PROPERTY_NAME_MAX,
} from '../../../store/lake/versions/columns.ts';
import type { DateOrder } from '../../../pipeline/values/dateFormats.ts';
import {
  CONSTANTS_MAX,
  DELIMITERS,
  BINARIES,
  ENCODINGS,
  ESCAPES,
  FORMAT_CHARACTERS_MAX,
  HEADER_LINES_MAX,
  QUOTES,
  NULL_CHARACTERS_MAX,
  NULLS_MAX,
  type Reading,
  SKIP_LINES_MAX,
  ZONE_CHARACTERS_MAX,
} from '../../../pipeline/bytes/reading.ts';
import { VENDOR_IDS } from '../../../market/files/vendors.ts';
import { checkDateFormat } from '../../../pipeline/dates/strptime.ts';
import { checkTimeZone } from '../../../pipeline/dates/timeZones.ts';
import type { ColumnMapping } from '../../../store/lake/datasets/datasets.ts';
import {
  numberOf,
  type Parameter,
  listOf,
  refuse,
  textOf,
  truthOf,
  type Values,
} from '../../../reads/request/parameters.ts';

/** Treatment of records that repeat a value of the declared index, or a whole record. */
export const DUPLICATE_PARAMETERS = [
  {
    kind: 'choice',
    name: 'duplicates',
    choices: DUPLICATES,
    help:
      'Records that repeat a declared index value: the newest replaces (default), the first is kept, ' +
      'or each is rejected. keep-all: no index decides. skip-identical: records equal in full are left out.',
  },
  {
    kind: 'choice',
    name: 'duplicateKeyHandling',
    choices: ['ignore', 'replace', 'true', 'false'],
    help: 'Names of the original: ignore (false) or replace (true). duplicates overrides it.',
  },
] as const satisfies readonly Parameter[];

/** Duplicate parameters of file loads, which may create their dataset. */
export const FILE_DUPLICATES: readonly Parameter[] = DUPLICATE_PARAMETERS.map((parameter) =>
  parameter.name === 'duplicates'
    ? parameter
    : {
        ...parameter,
        choices: [...parameter.choices, 'refuse'],
        help: `${parameter.help} refuse: a first load fails if its file repeats an index value.`,
      },
);

/** @throws Failure InvalidParameter for a unique index without key and date. */
export function parseUniqueness(
  query: Values,
  mapping: ColumnMapping | undefined,
): { readonly numbered?: true } {
  const isUnique = query['uniqueIndex'];
  if (isUnique === true && mapping === undefined) refuse('uniqueIndex', 'true needs key or date');
  return isUnique === false ? { numbered: true } : {};
}

const HANDLING = lookupTable<DuplicateKeyHandling>({
  ignore: 'ignore',
  false: 'ignore',
  replace: 'replace',
  true: 'replace',
  refuse: 'refuse',
});

/** The duplicate rules of a load. The choices of both parameters were checked. */
export function readDuplicates(query: Values): DuplicateRules {
  const chosen = textOf(query, 'duplicates') as Duplicates | undefined;
  const handling = HANDLING[textOf(query, 'duplicateKeyHandling') ?? ''];
  return duplicateRules(chosen, handling);
}

export const JSON_PATH: Parameter = {
  kind: 'text',
  name: 'jsonPath',
  help: 'Path of the records in a JSON document: $ with steps .name, [*] and .{name}, each member.',
};

export const DATE_ORDER: Parameter = {
  kind: 'choice',
  name: 'dateOrder',
  choices: ['MDY', 'DMY'],
  help: 'Whether dates like 01/02/2024 begin with the month or the day; by default the column decides.',
};

export const CONFIRM_ADJUSTMENT: Parameter = {
  kind: 'boolean',
  name: 'confirmAdjustment',
  help: 'true: load prices although known splits contradict what isSplitAdjusted declares.',
};

/** The load's member `dateOrder`, if the query has it. */
export function parseDateOrder(query: Values): { readonly dateOrder?: DateOrder } {
  const order = textOf(query, 'dateOrder') as DateOrder | undefined;
  return order === undefined ? {} : { dateOrder: order };
}

const NAMES = Object.keys(DELIMITERS) as readonly (keyof typeof DELIMITERS)[];
const QUOTE_NAMES = Object.keys(QUOTES) as readonly (keyof typeof QUOTES)[];

/** Characters of the parameter `columns`, and of one constant. */
const COLUMNS_CHARACTERS_MAX = 8_192;
const CONSTANT_CHARACTERS_MAX = 1_000;

const PROPERTY = Type.String({ minLength: 1, maxLength: PROPERTY_NAME_MAX });
const COLUMNS = Type.Record(Type.String(), Type.Union([PROPERTY, Type.Null()]), {
  maxProperties: PROPERTIES_MAX,
});
const CONSTANTS = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: CONSTANT_CHARACTERS_MAX }), Type.Number(), Type.Boolean()]),
  { maxProperties: CONSTANTS_MAX },
);

const WIDE = Type.Object({ names: PROPERTY, values: PROPERTY }, { additionalProperties: false });

/** Options for reading a file, in the body of a schedule or a job. */
export const READING = Type.Object(
  {
    as: Type.Optional(Type.Enum(['csv', 'json'])),
    header: Type.Optional(
      Type.Union([Type.Boolean(), Type.Integer({ minimum: 0, maximum: HEADER_LINES_MAX })]),
    ),
    skipLines: Type.Optional(Type.Integer({ minimum: 0, maximum: SKIP_LINES_MAX })),
    skipLast: Type.Optional(Type.Integer({ minimum: 0, maximum: SKIP_LINES_MAX })),
    delimiter: Type.Optional(Type.Enum([...NAMES])),
    quote: Type.Optional(Type.Enum([...QUOTE_NAMES])),
    escape: Type.Optional(Type.Enum([...ESCAPES])),
    encoding: Type.Optional(Type.Enum([...ENCODINGS])),
    binary: Type.Optional(Type.Enum([...BINARIES])),
    dateFormat: Type.Optional(Type.String({ minLength: 1, maxLength: FORMAT_CHARACTERS_MAX })),
    timeZone: Type.Optional(Type.String({ minLength: 1, maxLength: ZONE_CHARACTERS_MAX })),
    nulls: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: NULL_CHARACTERS_MAX }), {
        maxItems: NULLS_MAX,
      }),
    ),
    columns: Type.Optional(COLUMNS),
    constants: Type.Optional(CONSTANTS),
    guess: Type.Optional(Type.Boolean()),
    vendor: Type.Optional(Type.Enum([...VENDOR_IDS])),
    confirmAdjustment: Type.Optional(Type.Boolean()),
    wide: Type.Optional(WIDE),
    facts: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** The same options as query parameters. */
export const READING_PARAMETERS: readonly Parameter[] = [
  {
    kind: 'choice',
    name: 'as',
    choices: ['csv', 'json'],
    help: 'Format of the body, instead of detecting it; nothing is refused for being a page or an error.',
  },
  {
    kind: 'choice',
    name: 'header',
    choices: [
      'true',
      'false',
      ...Array.from({ length: HEADER_LINES_MAX + 1 }, (_, lines) => String(lines)),
    ],
    help: 'Number of header lines of a CSV; true means 1, false means 0 and columns named column1, column2.',
  },
  {
    kind: 'integer',
    name: 'skipLines',
    least: 0,
    most: SKIP_LINES_MAX,
    help: 'Number of lines before the header of a CSV.',
  },
  {
    kind: 'integer',
    name: 'skipLast',
    least: 0,
    most: SKIP_LINES_MAX,
    help: 'Number of lines at the end of a CSV that are not records; 0 means that the last line is a record.',
  },
  {
    kind: 'choice',
    name: 'delimiter',
    choices: NAMES,
    help: 'Delimiter between the cells of a CSV; detected by default.',
  },
  {
    kind: 'choice',
    name: 'quote',
    choices: QUOTE_NAMES,
    help: 'Quotes around the cells of a CSV: double by default, single, or none.',
  },
  {
    kind: 'choice',
    name: 'escape',
    choices: ESCAPES,
    help: 'How a quote inside quotes is written in a CSV: double (twice, the default) or with a backslash.',
  },
  {
    kind: 'choice',
    name: 'encoding',
    choices: ENCODINGS,
    help: 'Encoding of CSV or JSON; UTF-8, UTF-16 and windows-1252 are detected.',
  },
  {
    kind: 'choice',
    name: 'binary',
    choices: BINARIES,
    help: 'What columns of bytes in Parquet and Arrow become: text in UTF-8, or hexadecimal digits.',
  },
  {
    kind: 'text',
    name: 'dateFormat',
    charactersMax: FORMAT_CHARACTERS_MAX,
    help: 'Format of dates and times, in the letters of strptime: %Y%m%d %H%M%S%g.',
  },
  {
    kind: 'text',
    name: 'timeZone',
    charactersMax: ZONE_CHARACTERS_MAX,
    help: 'Zone of times without an offset: America/New_York, -05:00 or EST5; UTC by default.',
  },
  {
    kind: 'list',
    name: 'nulls',
    mayBeEmpty: true,
    help: 'Comma list of the exact texts that mean no value, in every column; empty: no text does.',
  },
  {
    kind: 'text',
    name: 'columns',
    charactersMax: COLUMNS_CHARACTERS_MAX,
    help: 'JSON object: the property that a column is, or null if it stays out: {"Adj Close":"fClose"}.',
  },
  {
    kind: 'text',
    name: 'constants',
    help: 'JSON object: properties that the file lacks, with the value of each record: {"symbol":"AAPL"}.',
  },
  {
    kind: 'boolean',
    name: 'guess',
    help: 'true: other columns are what vendors usually call them; for inputs of the market in CORE.',
  },
  {
    kind: 'choice',
    name: 'vendor',
    choices: VENDOR_IDS,
    help: 'Vendor of the file: what its columns, symbols and prices are; for inputs of the market in CORE.',
  },
  CONFIRM_ADJUSTMENT,
  {
    kind: 'list',
    name: 'wide',
    help: 'Of a file with a column for each symbol, the properties of names and cells: symbol,close.',
  },
  {
    kind: 'boolean',
    name: 'facts',
    help: 'true: records are facts that a company reported; for statements in CORE, such as INCOME.',
  },
];

const HEADERS = lookupTable<boolean>({ true: true, false: false });

/** The load's member `reading`, if the query has any of its options. */
export function parseReading(query: Values): { readonly reading?: Reading } {
  const header = textOf(query, 'header');
  const members = {
    as: textOf(query, 'as'),
    header: header === undefined ? undefined : (HEADERS[header] ?? Number(header)),
    skipLines: numberOf(query, 'skipLines'),
    skipLast: numberOf(query, 'skipLast'),
    delimiter: textOf(query, 'delimiter'),
    quote: textOf(query, 'quote'),
    escape: textOf(query, 'escape'),
    encoding: textOf(query, 'encoding'),
    binary: textOf(query, 'binary'),
    dateFormat: textOf(query, 'dateFormat'),
    timeZone: textOf(query, 'timeZone'),
    nulls: checkNulls(listOf(query, 'nulls')),
    columns: parseObject(query, 'columns', COLUMNS_RULE),
    constants: parseObject(query, 'constants', CONSTANTS_RULE),
    guess: truthOf(query, 'guess') ? true : undefined,
    vendor: textOf(query, 'vendor'),
    confirmAdjustment: truthOf(query, 'confirmAdjustment') ? true : undefined,
    wide: parseWide(listOf(query, 'wide')),
    facts: truthOf(query, 'facts') ? true : undefined,
  };
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // The parameters were checked against their choices.
  const reading = Object.fromEntries(entries) as Static<typeof READING>;
  checkReading(reading);
  return entries.length === 0 ? {} : { reading };
}

const COLUMNS_RULE = {
  schema: COLUMNS,
  rule: 'must be a JSON object of columns, each with the name of a property or null',
};
const CONSTANTS_RULE = {
  schema: CONSTANTS,
  rule: `must be a JSON object of at most ${CONSTANTS_MAX} properties, each with a text, number or boolean`,
};

/** Parses a JSON object. @throws Failure InvalidParameter if it does not match the schema. */
function parseObject(
  query: Values,
  name: string,
  { rule, schema }: { readonly schema: TSchema; readonly rule: string },
): object | undefined {
  const text = textOf(query, name);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && isValid(schema, value)) return value;
  return refuse(name, rule);
}

/** @throws Failure InvalidParameter for too many or too long texts. */
function checkNulls(list: readonly string[] | undefined): Reading['nulls'] {
  const isLong = list?.some(({ length }) => length > NULL_CHARACTERS_MAX) === true;
  if (list === undefined || (list.length <= NULLS_MAX && !isLong)) return list;
  return refuse(
    'nulls',
    `must be at most ${NULLS_MAX} texts of at most ${NULL_CHARACTERS_MAX} characters`,
  );
}

/** @throws Failure InvalidParameter if it is no pair. */
function parseWide(list: readonly string[] | undefined): Reading['wide'] {
  if (list === undefined) return undefined;
  const [names, values, ...more] = list;
  if (names === undefined || values === undefined || more.length > 0) {
    return refuse('wide', 'must be two properties, such as symbol,close');
  }
  return { names, values };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws Failure InvalidBody for invalid or repeated property names. */
export function checkReading(reading: Reading = {}): void {
  const { columns = {}, constants = {}, dateFormat, timeZone, wide } = reading;
  if (dateFormat !== undefined) checkDateFormat(dateFormat);
  if (timeZone !== undefined) checkTimeZone(timeZone);
  const properties = Object.values(columns).filter((property) => property !== null);
  const wideProperties = wide === undefined ? [] : [wide.names, wide.values];
  const all = [...properties, ...Object.keys(constants), ...wideProperties];
  if (all.length > 0) checkPropertyNames('the column mapping', all);
}
