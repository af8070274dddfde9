// Parses a dataset's contract and expectations, and checks the rules that JSON schema can't express.
import type { Static } from 'typebox';
import { Type } from '../../reads/request/schema.ts';
import {
  toColumnType,
  type ColumnType,
  isDateType,
  isNumberType,
  type PropertyType,
} from '../../store/lake/versions/columns.ts';
import {
  type Expectation,
  type Rule,
  type SchemaContract,
  DEFAULT_CONTRACT,
} from '../../store/lake/datasets/contracts.ts';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import { Failure } from '../../store/base/failure.ts';
import { literal } from '../../store/duckdb/sqlText.ts';
import { NUMBER_RULE } from '../../store/base/valueRules.ts';

const CONTRACT_MODES = ['evolve', 'freeze', 'discard_record', 'discard_value'] as const;
const ACTIONS = ['quarantine', 'reject', 'fail', 'warn'] as const;
/** Expectations of a dataset, and characters of all of them as JSON. */
const EXPECTATIONS_MAX = 100;
const EXPECTATIONS_CHARACTERS_MAX = 200_000;
const VALUES_MAX = 1_000;
/** Properties and comparisons of one chain: 11 properties and 10 comparisons. */
const CHAIN_MAX = 21;
/** Timeout of the check of one pattern. */
const PATTERNS_MS = 5_000;

const name = Type.String({ minLength: 1, maxLength: 256 });
const scalar = Type.Union([Type.Number(), Type.String({ maxLength: 200 })]);
const closed = { additionalProperties: false };

const EXPECTATION = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    action: Type.Optional(Type.Enum([...ACTIONS])),
    notNull: Type.Optional(Type.Union([name, Type.Array(name, { minItems: 1, maxItems: 100 })])),
    range: Type.Optional(
      Type.Object(
        { property: name, min: Type.Optional(scalar), max: Type.Optional(scalar) },
        closed,
      ),
    ),
    pattern: Type.Optional(
      Type.Object(
        { property: name, matches: Type.String({ minLength: 1, maxLength: 200 }) },
        closed,
      ),
    ),
    oneOf: Type.Optional(
      Type.Object(
        { property: name, values: Type.Array(scalar, { minItems: 1, maxItems: VALUES_MAX }) },
        closed,
      ),
    ),
    compare: Type.Optional(Type.Array(name, { minItems: 3, maxItems: CHAIN_MAX })),
    monotone: Type.Optional(Type.Literal(true)),
  },
  closed,
);

/** Members of a dataset's body; null resets a member. */
export const CONTRACT_MEMBERS = {
  schemaContract: Type.Optional(
    Type.Union([
      Type.Object(
        {
          columns: Type.Optional(Type.Enum([...CONTRACT_MODES])),
          types: Type.Optional(Type.Enum([...CONTRACT_MODES])),
        },
        closed,
      ),
      Type.Null(),
    ]),
  ),
  expectations: Type.Optional(
    Type.Union([Type.Array(EXPECTATION, { maxItems: EXPECTATIONS_MAX }), Type.Null()]),
  ),
};

const MEMBERS = Type.Object(CONTRACT_MEMBERS);
type Members = Static<typeof MEMBERS>;
type ExpectationBody = Static<typeof EXPECTATION>;

interface DatasetRules {
  readonly contract: SchemaContract;
  readonly expectations: readonly Expectation[];
}

/**
 * Members that the body leaves out keep their values; a list of expectations replaces the previous list.
 * @throws Failure InvalidBody naming the expectation and its rule.
 */
export function mergeContract(body: Members, previous: DatasetRules): DatasetRules {
  const { expectations, schemaContract } = body;
  const expectationList = expectations ?? [];
  if (JSON.stringify(expectationList).length > EXPECTATIONS_CHARACTERS_MAX) {
    const limit = `at most ${EXPECTATIONS_CHARACTERS_MAX} characters in all`;
    throw new Failure('InvalidBody', `expectations must have ${limit}`);
  }
  return {
    contract:
      schemaContract === undefined ? previous.contract : declaredContract(schemaContract, previous),
    expectations:
      expectations === undefined
        ? previous.expectations
        : expectationList.map((one, at) => toExpectation(one, `expectations.${at}`)),
  };
}

/** Merges the declared contract over the previous one; null resets it. */
function declaredContract(
  body: NonNullable<Members['schemaContract']> | null,
  { contract: { columns, types } }: DatasetRules,
): SchemaContract {
  return body === null ? DEFAULT_CONTRACT : { columns, types, ...body };
}

function toExpectation(body: ExpectationBody, at: string): Expectation {
  const { action = 'quarantine', name: label, ...rest } = body;
  const rules = Object.keys(rest);
  if (rules.length !== 1) {
    const ruleNames = 'notNull, range, pattern, oneOf, compare or monotone';
    throw new Failure('InvalidBody', `${at} must have exactly one of ${ruleNames}`);
  }
  const { notNull } = rest;
  const rule = notNull === undefined ? rest : { notNull: [notNull].flat() };
  const nameMember = label === undefined ? {} : { name: label };
  return { ...nameMember, ...(rule as Rule), action: action };
}

/** Properties and index of the dataset that the expectations apply to. */
interface ExpectationTarget {
  readonly properties: Readonly<Record<string, PropertyType>>;
  readonly mapping: ColumnMapping;
}

/** @throws Failure InvalidBody naming the expectation, the property and the rule. */
export function checkExpectations(
  expectations: readonly Expectation[],
  { mapping, properties }: ExpectationTarget,
): void {
  const typeOf = (property: string, at: string): ColumnType => {
    const propertyType = Object.hasOwn(properties, property) ? properties[property] : undefined;
    if (propertyType === undefined) {
      throw new Failure('InvalidBody', `${at}: '${property}' is not a property`);
    }
    return toColumnType(propertyType);
  };
  for (const [index, rule] of expectations.entries()) {
    const at = `expectations.${index}`;
    if ('monotone' in rule) {
      if (mapping.date !== undefined) continue;
      throw new Failure('InvalidBody', `${at}.monotone needs a date in columnMapping`);
    } else if ('notNull' in rule) {
      for (const property of rule.notNull) typeOf(property, `${at}.notNull`);
    } else if ('range' in rule) {
      checkRange(rule.range, typeOf(rule.range.property, `${at}.range`), `${at}.range`);
    } else if ('pattern' in rule) {
      const type = typeOf(rule.pattern.property, `${at}.pattern`);
      if (type !== 'varchar') throw new Failure('InvalidBody', `${at}.pattern needs a string`);
    } else if ('oneOf' in rule) {
      const type = typeOf(rule.oneOf.property, `${at}.oneOf`);
      checkValues(rule.oneOf.values, type, `${at}.oneOf`);
    } else {
      checkChain(rule.compare, (property) => typeOf(property, `${at}.compare`), `${at}.compare`);
    }
  }
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{1,9})?Z?)?$/;

function checkRange(
  { max, min }: Extract<Rule, { readonly range: object }>['range'],
  type: ColumnType,
  at: string,
): void {
  const bounds = Object.entries({ min, max }).filter(([, value]) => value !== undefined);
  if (bounds.length === 0) throw new Failure('InvalidBody', `${at} must have min or max`);
  if (!isNumberType(type) && !isDateType(type)) {
    throw new Failure('InvalidBody', `${at}.property must be a number or a date`);
  }
  for (const [bound, value] of bounds) {
    if (isNumberType(type) && typeof value !== 'number') {
      throw new Failure('InvalidBody', `${at}.${bound} ${NUMBER_RULE}`);
    }
    if (isDateType(type) && !isMoment(value, type === 'date' ? DAY : INSTANT)) {
      const format = type === 'date' ? 'YYYY-MM-DD' : 'a date or an ISO 8601 time in UTC';
      throw new Failure('InvalidBody', `${at}.${bound} must be ${format}`);
    }
  }
  if (min !== undefined && max !== undefined && min > max) {
    throw new Failure('InvalidBody', `${at}.min must not be over max`);
  }
}

function isMoment(value: unknown, pattern: RegExp): boolean {
  if (typeof value !== 'string' || !pattern.test(value)) return false;
  const day = value.slice(0, 10);
  const ms = Date.parse(`${day}T00:00:00Z`);
  const rest = value.length === 10 ? '00:00:00' : value.slice(11, 19);
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) && day >= '0001';
  return isDay && !Number.isNaN(Date.parse(`2000-01-01T${rest}Z`));
}

function checkValues(values: readonly unknown[], type: ColumnType, at: string): void {
  const typeName = type === 'varchar' ? 'string' : isNumberType(type) ? 'number' : undefined;
  if (typeName === undefined) {
    throw new Failure('InvalidBody', `${at}.property must be a string or a number`);
  }
  if (values.every((value) => typeof value === typeName)) return;
  throw new Failure('InvalidBody', `${at}.values must be of the property's type, ${typeName}`);
}

const COMPARISONS: readonly string[] = ['<', '<=', '=', '!=', '>=', '>'];

function checkChain(
  chain: readonly string[],
  typeOf: (property: string) => ColumnType,
  at: string,
): void {
  const isChain =
    chain.length % 2 === 1 &&
    chain.every((item, index) => index % 2 === 0 || COMPARISONS.includes(item));
  if (!isChain) {
    const rule = `properties with one of ${COMPARISONS.join(' ')} between each two`;
    throw new Failure('InvalidBody', `${at} must be ${rule}`);
  }
  const kinds = chain.filter((_, index) => index % 2 === 0).map((name) => kindOf(typeOf(name)));
  if (kinds.includes('json') || new Set(kinds).size > 1) {
    throw new Failure(
      'InvalidBody',
      `${at} must compare numbers, dates or strings, each with its like`,
    );
  }
}

/** Types of one kind can be compared. */
function kindOf(type: ColumnType): string {
  if (isNumberType(type)) return 'number';
  return isDateType(type) ? 'date' : type;
}

/** Validates patterns with RE2, which runs them. @throws Failure InvalidBody naming the pattern. */
export async function checkPatterns(
  expectations: readonly Expectation[],
  pool: DuckDbPool,
): Promise<void> {
  for (const [at, rule] of expectations.entries()) {
    if (!('pattern' in rule)) continue;
    const statements = [`SELECT regexp_full_match('', ${literal(rule.pattern.matches)})`];
    try {
      await pool.rows({ files: [], statements, deadlineMs: PATTERNS_MS });
    } catch (error) {
      if (error instanceof Failure && error.type !== 'SystemError') throw error;
      const message = `expectations.${at}.pattern.matches is no regular expression of RE2`;
      throw new Failure('InvalidBody', message);
    }
  }
}
