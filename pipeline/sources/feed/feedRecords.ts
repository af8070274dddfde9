// The records of a message of a feed: those at its path, with the names that the dataset has.
import { stepsOf } from '../../decode/json/jsonPath.ts';
import type { FeedDefinition } from '../base/source.ts';
import { MESSAGE_BYTES_MAX } from './feedOrder.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Why a message has none, for a person; else its records, which may be none. */
type Told = { readonly records: readonly Fields[] } | { readonly reason: string };

/** What a definition says of its messages. */
type Shape = Pick<FeedDefinition, 'columns' | 'constants' | 'jsonPath'>;

export function recordsOf(text: string, definition: Shape): Told {
  if (text.length > MESSAGE_BYTES_MAX) {
    return { reason: `a message of more than ${MESSAGE_BYTES_MAX} bytes` };
  }
  const value = parsed(text);
  if (value === undefined) return { reason: `a message that is no JSON: ${text.slice(0, 100)}` };
  const found = at(value, definition.jsonPath);
  return { records: found.map((record) => named(record, definition)) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects at a path; messages of other shapes, as of a heartbeat, have none. */
function at(value: unknown, path: string | undefined): readonly Fields[] {
  if (path === undefined) return (Array.isArray(value) ? value : [value]).filter(isFields);
  let found: readonly { readonly value: unknown; readonly names: Fields }[] = [
    { value, names: {} },
  ];
  for (const step of stepsOf(path)) {
    found = found.flatMap(({ names, value: one }) => {
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
  // A path may end at a list or at one object alike: messages are small, and servers send both.
  return found.flatMap(({ names, value: one }) =>
    (Array.isArray(one) ? (one as readonly unknown[]) : [one])
      .filter(isFields)
      .map((record) => ({ ...names, ...record })),
  );
}

function named(record: Fields, { columns = {}, constants = {} }: Shape): Fields {
  const members = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    const other = Object.hasOwn(columns, name) ? columns[name] : name;
    return other === null || other === undefined ? [] : [[other, value]];
  });
  return { ...constants, ...Object.fromEntries(members) };
}
