// JSON bodies: bounded, parsed by content whatever the header says, checked by their schema.
import type { IncomingMessage } from 'node:http';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { Failure } from '../store/failure.ts';

/** Largest JSON body: a schema of 10,000 properties has about 0.6 MB. */
const JSON_BYTES_MAX = 4 * 1024 ** 2;
/** Errors told of one body. */
const ERRORS_TOLD = 3;

/** @throws Failure TooLarge, InvalidBody. */
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
    throw new Failure('InvalidBody', 'the body is not JSON');
  }
}

/** @throws Failure InvalidBody naming each member and its rule. */
export function checkBody(schema: TSchema, json: unknown): unknown {
  if (Value.Check(schema, json)) return json;
  const errors = [...Value.Errors(schema, json)].slice(0, ERRORS_TOLD);
  const told = errors.map(({ instancePath, message }) => {
    const member = instancePath.slice(1).replaceAll('/', '.');
    return `${member === '' ? 'the body' : member.slice(0, 200)} ${message}`;
  });
  throw new Failure('InvalidBody', told.join('; '));
}
