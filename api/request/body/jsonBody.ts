// JSON bodies: bounded, parsed by content whatever the header says, checked by their schema.
import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import type { Errors } from 'typebox/schema';
import { Failure } from '../../../store/base/failure.ts';
import { checks } from './checks.ts';
import { type Pace, SENDING, watchSender } from './pace.ts';

/** Largest JSON body: a schema of 10,000 properties has about 0.6 MB. */
const JSON_BYTES_MAX = 4 * 1024 ** 2;
/** Errors told of one body. */
const ERRORS_TOLD = 3;

export interface JsonBody {
  readonly bytes: Buffer;
  /** Undefined when the body is no JSON: whether that matters is decided after the token. */
  readonly value: unknown;
}

/** @throws Failure TooLarge; InvalidBody when its sender is too slow, or went away before its end. */
export async function readJson(body: Readable, pace = SENDING): Promise<JsonBody> {
  const bytes = await bytesOf(body, pace);
  try {
    return { bytes, value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return { bytes, value: undefined };
  }
}

/** What is not read when it fails stays in the body. */
async function bytesOf(body: Readable, pace: Pace): Promise<Buffer> {
  const { promise, reject, resolve } = Promise.withResolvers<void>();
  const pieces: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length <= JSON_BYTES_MAX) pieces.push(piece);
    else reject(new Failure('TooLarge', `the body is over ${JSON_BYTES_MAX} bytes`));
  };
  const unwatch = watchSender(body, pace, () => length, reject);
  body.on('data', take).once('end', resolve);
  try {
    await promise;
  } finally {
    unwatch();
    body.off('data', take).off('end', resolve).pause();
  }
  return Buffer.concat(pieces);
}

/** @throws Failure InvalidBody naming each member and its rule. */
export async function checkBody(schema: TSchema, json: unknown): Promise<unknown> {
  if (json === undefined) throw new Failure('InvalidBody', 'the body is not JSON');
  const { Check, Errors } = await checks();
  if (Check(schema, json)) return json;
  const [, faults] = Errors(schema, json);
  const errors = faults.filter(saysSomething).slice(0, ERRORS_TOLD);
  const told = errors.map(({ keyword, instancePath, message, params }) => {
    const member = instancePath.slice(1).replaceAll('/', '.');
    const allowed = 'allowedValues' in params ? `: ${String(params.allowedValues)}` : '';
    const rule = keyword === 'boolean' ? 'is not known' : `${message}${allowed}`;
    return `${member === '' ? 'the body' : member.slice(0, 200)} ${rule}`;
  });
  throw new Failure('InvalidBody', told.join('; '));
}

/** What follows from other errors, or says that a member may be null, mends nothing. */
const saysSomething = (error: ReturnType<typeof Errors>[1][number]): boolean =>
  error.keyword !== 'anyOf' &&
  error.keyword !== 'additionalProperties' &&
  !(error.keyword === 'type' && error.params.type === 'null');
