// Reads paged lists: the records of a page, and its reference to the next one.
import { reasonOf } from '../../../store/base/failure.ts';
import { checkJsonPath, parseSteps } from '../../decode/json/jsonPath.ts';
import { describeNoData } from '../../bytes/noData.ts';
import { type Pages, SourceFailure } from '../base/source.ts';

/** A longer list needs the server's own export, or has no end. */
export const PAGES_MAX = 1_000;
/** Maximum bytes of one page: it is parsed in the server's process, which 16 MiB block for 0.12 to 0.19 s. */
export const PAGE_BYTES_MAX = 16 * 1024 ** 2;

const CURSOR_CHARACTERS_MAX = 2_048;
const PARAMETER = /^[A-Za-z0-9_.~[\]-]{1,100}$/;
const CURSOR_PATH = /^\$(?:\.[A-Za-z_][A-Za-z0-9_-]{0,127}){1,20}$/;

/** The parsed result of a page. */
export interface PageRead {
  /** Number of records at the path; undefined if the path does not exist. */
  readonly records: number | undefined;
  /** Undefined if there is no next page. */
  readonly cursor: string | undefined;
}

/** @throws SourceFailure naming the member and its rule. */
export function checkPages(pages: Pages): void {
  if (!PARAMETER.test(pages.parameter)) {
    refuse('"pages.parameter" must be 1 to 100 letters, digits or any of . _ ~ - [ ]');
  }
  if (pages.kind === 'cursor' && !CURSOR_PATH.test(pages.cursorPath)) {
    refuse('"pages.cursorPath" must be $ with steps .name');
  }
  if (pages.kind === 'page' && !Number.isSafeInteger(pages.first ?? 1)) {
    refuse('"pages.first" must be a whole number');
  }
}

/**
 * @param body of one page, at most `PAGE_BYTES_MAX`.
 * @throws SourceFailure if it is not JSON, or its cursor cannot be sent.
 */
export function readPage(body: Buffer, pages: Pages, jsonPath: string | undefined): PageRead {
  let document: unknown;
  try {
    document = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    const what = describeNoData(body);
    if (what !== undefined) return refuse(`the source answered ${what}`);
    return refuse(`a page is not JSON: ${reasonOf(error).slice(0, 200)}`);
  }
  const records = jsonPath === undefined ? [document].flat() : valuesAt(document, jsonPath);
  const cursor = pages.kind === 'cursor' ? readCursor(document, pages.cursorPath) : undefined;
  return { records: records?.length, cursor };
}

/** Elements at the path; undefined if a step is missing everywhere. */
function valuesAt(document: unknown, jsonPath: string): readonly unknown[] | undefined {
  let values: readonly unknown[] = [document];
  for (const step of parseSteps(checkJsonPath(jsonPath))) {
    const hasStep = step.kind === 'member' ? hasMember(step.name) : HAS_STEP[step.kind];
    const next = values.filter(hasStep);
    if (next.length === 0 && values.length > 0) return undefined;
    values =
      step.kind === 'member' ? next.map((value) => memberOf(value, step.name)) : inside(next);
  }
  return values;
}

const HAS_STEP = {
  elements: (value: unknown): boolean => Array.isArray(value),
  each: (value: unknown): boolean =>
    typeof value === 'object' && value !== null && !Array.isArray(value),
} as const;

const inside = (values: readonly unknown[]): readonly unknown[] =>
  values.flatMap((value) => Object.values(value as object) as readonly unknown[]);

function readCursor(document: unknown, path: string): string | undefined {
  const value = path
    .split('.')
    .slice(1)
    .reduce<unknown>(
      (at, name) => (hasMember(name)(at) ? memberOf(at, name) : undefined),
      document,
    );
  if (value === undefined || value === null || value === '' || value === false) return undefined;
  const exact =
    typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value));
  if (typeof value !== 'string' && !exact) {
    return refuse('a cursor must be a text, or a number below 2^53');
  }
  const cursor = String(value);
  if (cursor.length > CURSOR_CHARACTERS_MAX) {
    refuse(`a cursor has at most ${CURSOR_CHARACTERS_MAX} characters`);
  }
  return cursor;
}

const hasMember =
  (name: string) =>
  (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, name);

const memberOf = (value: unknown, name: string): unknown =>
  (value as Record<string, unknown>)[name];

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
