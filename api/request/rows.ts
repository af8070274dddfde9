// What rows of the endpoint table have in common.
import { Type } from 'typebox';
import type { Answer, Endpoint } from './endpoint.ts';

/** An object whose members the reference does not list. */
export const ANY = Type.Object({}, { additionalProperties: true });

/** A row for the owner of a workspace, without parameters. */
export const OWNERS_ROW = {
  token: 'secret',
  weight: 'free',
  parameters: [],
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

export const freely = (value: unknown): Answer => ({ kind: 'json', value, metering: 'free' });
