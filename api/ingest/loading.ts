// What the loading doors share.
import { type Static, Type } from 'typebox';
import type { DateOrder } from '../../pipeline/values/dateFormats.ts';
import {
  DELIMITERS,
  ENCODINGS,
  HEADER_LINES_MAX,
  type Reading,
  SKIP_LINES_MAX,
} from '../../pipeline/bytes/reading.ts';
import type { ColumnMapping } from '../../store/datasets/datasets.ts';
import { numberOf, type Parameter, refuse, textOf, type Values } from '../request/parameters.ts';

export const DUPLICATES = {
  kind: 'choice',
  name: 'duplicateKeyHandling',
  choices: ['ignore', 'replace', 'true', 'false'],
  help: 'Records whose index value is already stored: ignore them (default, false) or replace (true).',
} as const satisfies Parameter;

/** Of a whole file, which may make its dataset. */
export const FILE_DUPLICATES: Parameter = {
  ...DUPLICATES,
  choices: [...DUPLICATES.choices, 'refuse'],
  help: `${DUPLICATES.help} Refuse: a first load fails if the file repeats one.`,
};

/** The members of a load, where the query has them. */
export const repeatsOf = (query: Values): { readonly refusesRepeats?: true } =>
  textOf(query, 'duplicateKeyHandling') === 'refuse' ? { refusesRepeats: true } : {};

/** @throws Failure InvalidParameter for a unique index of nothing. */
export function uniquenessOf(
  query: Values,
  mapping: ColumnMapping | undefined,
): { readonly numbered?: true } {
  const given = query['uniqueIndex'];
  if (given === true && mapping === undefined) refuse('uniqueIndex', 'true needs key or date');
  return given === false ? { numbered: true } : {};
}

export function duplicatesOf(query: Values): 'ignore' | 'replace' {
  const given = textOf(query, 'duplicateKeyHandling');
  return given === 'replace' || given === 'true' ? 'replace' : 'ignore';
}

export const DATE_ORDER: Parameter = {
  kind: 'choice',
  name: 'dateOrder',
  choices: ['MDY', 'DMY'],
  help: 'Whether dates like 01/02/2024 begin with the month or the day; by default the column decides.',
};

/** The member of a load, where the query has it. */
export function dateOrderOf(query: Values): { readonly dateOrder?: DateOrder } {
  const given = textOf(query, 'dateOrder') as DateOrder | undefined;
  return given === undefined ? {} : { dateOrder: given };
}

const NAMES = Object.keys(DELIMITERS) as readonly (keyof typeof DELIMITERS)[];

/** What may be said of how a file is to be read, in the body of a schedule or a job. */
export const READING = Type.Object(
  {
    as: Type.Optional(Type.Enum(['csv', 'json'])),
    header: Type.Optional(
      Type.Union([Type.Boolean(), Type.Integer({ minimum: 0, maximum: HEADER_LINES_MAX })]),
    ),
    skipLines: Type.Optional(Type.Integer({ minimum: 0, maximum: SKIP_LINES_MAX })),
    skipLast: Type.Optional(Type.Integer({ minimum: 0, maximum: SKIP_LINES_MAX })),
    delimiter: Type.Optional(Type.Enum([...NAMES])),
    encoding: Type.Optional(Type.Enum([...ENCODINGS])),
  },
  { additionalProperties: false },
);

/** The same as parameters. */
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
    choices: ['true', 'false', '0', '1', '2', '3'],
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
    name: 'encoding',
    choices: ENCODINGS,
    help: 'Encoding of CSV or JSON; UTF-8, UTF-16 and windows-1252 are detected.',
  },
];

const HEADERS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** The member of a load, where the query has a part of it. */
export function readingOf(query: Values): { readonly reading?: Reading } {
  const header = textOf(query, 'header');
  const told = {
    as: textOf(query, 'as'),
    header: header === undefined ? undefined : (HEADERS[header] ?? Number(header)),
    skipLines: numberOf(query, 'skipLines'),
    skipLast: numberOf(query, 'skipLast'),
    delimiter: textOf(query, 'delimiter'),
    encoding: textOf(query, 'encoding'),
  };
  const given = Object.entries(told).filter(([, value]) => value !== undefined);
  // Each was checked against its choices.
  return given.length === 0 ? {} : { reading: Object.fromEntries(given) as Static<typeof READING> };
}
