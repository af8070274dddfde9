// Builds common parts of rows of the endpoint table.
import type { TSchema } from 'typebox';
import { Type } from '../../reads/request/schema.ts';
import type { Shape } from '../../market/types/shape.ts';
import type { Endpoint } from './endpoint.ts';
import type { Answer } from '../../reads/request/answer.ts';

/** An object whose members the reference does not list. */
export const ANY = Type.Object({}, { additionalProperties: true });

/** Declares an answer with an exact shape; the document of all endpoints has only its kind. */
export const shapedAnswer = (shape: Shape): Pick<Endpoint, 'answer' | 'shape'> => ({
  answer: toKindSchema(shape),
  shape,
});

function toKindSchema({ anyOf, items }: Shape): TSchema {
  if (anyOf !== undefined) {
    const kinds = new Map(anyOf.map(toKindSchema).map((kind) => [JSON.stringify(kind), kind]));
    const [only = ANY, ...rest] = kinds.values();
    return rest.length === 0 ? only : Type.Union([only, ...rest]);
  }
  return items === undefined ? ANY : Type.Array(toKindSchema(items));
}

/** A row for the owner of a workspace, without parameters. */
export const OWNERS_ROW = {
  token: 'secret',
  weight: 'free',
  parameters: [],
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

export const toFreeAnswer = (value: unknown): Answer => ({ kind: 'json', value, metering: 'free' });
