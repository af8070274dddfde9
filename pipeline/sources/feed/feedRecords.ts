// Extracts the records of a feed message: those at its path, with the property names of the dataset.
import { isExactDigits, parseExact } from '../../../store/base/exactJson.ts';
import { findHiddenFault } from '../../values/hiddenFaults.ts';
import { fitsDouble } from '../../values/infer.ts';
import { parseSteps } from '../../decode/json/jsonPath.ts';
import type { FeedDefinition } from '../base/source.ts';
import { MESSAGE_BYTES_MAX } from './feedOrder.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The records, possibly none; or the reason why the message has none, for display. */
type ParsedMessage = { readonly records: readonly Fields[] } | { readonly reason: string };

/** The members of a definition that describe its messages. */
type Shape = Pick<FeedDefinition, 'columns' | 'constants' | 'jsonPath'>;

export function parseRecords(text: string, definition: Shape): ParsedMessage {
  if (text.length > MESSAGE_BYTES_MAX) {
    return { reason: `a message of more than ${MESSAGE_BYTES_MAX} bytes` };
  }
  const value = parse(text);
  if (value === undefined) return { reason: `a message that is no JSON: ${text.slice(0, 100)}` };
  const fault = findHiddenFault(text, value);
  if (fault !== undefined) return { reason: `a message with ${fault}: ${text.slice(0, 100)}` };
  const records = recordsAt(value, definition.jsonPath);
  return { records: records.map((record) => renameMembers(record, definition)) };
}

/** Numbers with more digits, or a greater exponent, than every double keeps. */
const LONG_NUMBER = /[\d.]{16}|\de/i;

/** Numbers that a double would round keep their digits. */
function parse(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? parseExact(text, fitsDouble) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactDigits(value);

/** Objects at a path; messages of other shapes, such as heartbeats, have none. */
function recordsAt(value: unknown, path: string | undefined): readonly Fields[] {
  if (path === undefined) return (Array.isArray(value) ? value : [value]).filter(isFields);
  let matches: readonly { readonly value: unknown; readonly names: Fields }[] = [
    { value, names: {} },
  ];
  for (const step of parseSteps(path)) {
    matches = matches.flatMap(({ names, value: one }) => {
      if (step.kind === 'elements') {
        return Array.isArray(one) ? one.map((each: unknown) => ({ names, value: each })) : [];
      }
      if (!isFields(one)) return [];
      if (step.kind === 'member') {
        return Object.hasOwn(one, step.name) ? [{ names, value: one[step.name] }] : [];
      }
      return Object.entries(one).map(([name, each]) => ({
        names: { ...names, [step.property]: name },
        value: each,
      }));
    });
  }
  // A path may end at a list or at a single object: messages are small, and servers send both.
  return matches.flatMap(({ names, value: one }) =>
    (Array.isArray(one) ? (one as readonly unknown[]) : [one])
      .filter(isFields)
      .map((record) => ({ ...names, ...record })),
  );
}

function renameMembers(record: Fields, { columns = {}, constants = {} }: Shape): Fields {
  const members = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    const other = Object.hasOwn(columns, name) ? columns[name] : name;
    return other === null || other === undefined ? [] : [[other, value]];
  });
  return { ...constants, ...Object.fromEntries(members) };
}
