// JSON bodies: bounded, parsed by content whatever the header says, checked by their schema.
import type { IncomingMessage } from 'node:http';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { Failure } from '../store/failure.ts';

/** Largest JSON body: a schema of 10,000 properties has about 0.6 MB. */
const JSON_BYTES_MAX = 4 * 1024 ** 2;
/** Errors told of one body. */
const ERRORS_TOLD = 3;

/**
 * The body's value, undefined when it is no JSON: whether that matters is decided after the token,
 * which the body may hold.
 * @throws Failure TooLarge.
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += (piece as Buffer).length;
    if (bytes > JSON_BYTES_MAX) {
      throw new Failure('TooLarge', `the body is over ${JSON_BYTES_MAX} bytes`);
    }
    pieces.push(piece as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** @throws Failure InvalidBody naming each member and its rule. */
export function checkBody(schema: TSchema, json: unknown): unknown {
  if (json === undefined) throw new Failure('InvalidBody', 'the body is not JSON');
  if (Value.Check(schema, json)) return json;
  const errors = [...Value.Errors(schema, json)].slice(0, ERRORS_TOLD);
  const told = errors.map(({ instancePath, message, params }) => {
    const member = instancePath.slice(1).replaceAll('/', '.');
    const allowed = 'allowedValues' in params ? `: ${String(params.allowedValues)}` : '';
    return `${member === '' ? 'the body' : member.slice(0, 200)} ${message}${allowed}`;
  });
  throw new Failure('InvalidBody', told.join('; '));
}
