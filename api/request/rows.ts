// What rows of the endpoint table have in common.
import type { TSchema } from 'typebox';
import { Type } from './body/schema.ts';
import type { Shape } from '../../market/types/shape.ts';
import type { Answer, Endpoint } from './endpoint.ts';

/** An object whose members the reference does not list. */
export const ANY = Type.Object({}, { additionalProperties: true });

/** An answer whose shape is known: of it the document of all endpoints tells no more than the kind. */
export const shaped = (shape: Shape): Pick<Endpoint, 'answer' | 'shape'> => ({
  answer: kindOf(shape),
  shape,
});

function kindOf({ anyOf, items }: Shape): TSchema {
  if (anyOf !== undefined) {
    const kinds = new Map(anyOf.map(kindOf).map((kind) => [JSON.stringify(kind), kind]));
    const [only = ANY, ...rest] = kinds.values();
    return rest.length === 0 ? only : Type.Union([only, ...rest]);
  }
  return items === undefined ? ANY : Type.Array(kindOf(items));
}

/** A row for the owner of a workspace, without parameters. */
export const OWNERS_ROW = {
  token: 'secret',
  weight: 'free',
  parameters: [],
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

export const freely = (value: unknown): Answer => ({ kind: 'json', value, metering: 'free' });
