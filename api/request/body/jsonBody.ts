// Reads JSON bodies: bounded, parsed independent of the content type header, checked by their schema.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import { Failure } from '../../../store/base/failure.ts';
import { VALUES_MAX } from '../../../reads/request/bodyLimits.ts';
import { findFaults } from './faults.ts';
import { type Pace, SENDING_PACE, watchSender } from './pace.ts';
import { findShapeFault } from './shape.ts';

export interface JsonBody {
  readonly bytes: Buffer;
  /** Undefined if the body is not JSON, or its shape has a fault; reported after the token is checked. */
  readonly value: unknown;
  /** Why a body that may be JSON was not parsed. */
  readonly shapeFault?: string | undefined;
}

/** The declared length: a longer body is refused by its header, or without one while it is read. */
export const contentLengthOf = ({
  headers,
}: Pick<IncomingMessage, 'headers'>): number | undefined => {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
};

interface Limits {
  readonly bytesMax: number;
  readonly valuesMax?: number;
  readonly contentLength: number | undefined;
}

/** @throws Failure TooLarge; InvalidBody if its sender is too slow, or disconnects before its end. */
export async function readJson(
  body: Readable,
  limits: Limits,
  pace = SENDING_PACE,
): Promise<JsonBody> {
  const { bytesMax, contentLength = 0, valuesMax = VALUES_MAX } = limits;
  if (contentLength > bytesMax) throw tooLarge(bytesMax);
  const bytes = await readBytes(body, bytesMax, pace);
  const shapeFault = findShapeFault(bytes, valuesMax);
  if (shapeFault !== undefined) return { bytes, value: undefined, shapeFault };
  try {
    return { bytes, value: JSON.parse(bytes.toString('utf8')), shapeFault };
  } catch {
    return { bytes, value: undefined, shapeFault };
  }
}

const tooLarge = (bytesMax: number): Failure =>
  new Failure(
    'TooLarge',
    `the body is over ${bytesMax} bytes, the most that this request may have`,
  );

/** @throws Failure InvalidBody for a body that was not parsed because of its shape. */
export function refuseShape({ shapeFault }: Pick<JsonBody, 'shapeFault'>): void {
  if (shapeFault !== undefined) throw new Failure('InvalidBody', shapeFault);
}

/** Reads the bytes of a body; after a failure the rest stays unread in the stream. */
async function readBytes(body: Readable, bytesMax: number, pace: Pace): Promise<Buffer> {
  const { promise, reject, resolve } = Promise.withResolvers<void>();
  const pieces: Buffer[] = [];
  let length = 0;
  const addPiece = (piece: Buffer): void => {
    length += piece.length;
    if (length <= bytesMax) pieces.push(piece);
    else reject(tooLarge(bytesMax));
  };
  const unwatch = watchSender(body, pace, () => length, reject);
  body.on('data', addPiece).once('end', resolve);
  try {
    await promise;
  } finally {
    unwatch();
    body.off('data', addPiece).off('end', resolve).pause();
  }
  return Buffer.concat(pieces);
}

export const notJsonFailure = (): Failure => new Failure('InvalidBody', 'the body is not JSON');

/** @throws Failure InvalidBody: the first faults, each with its member and rule, and the number of others. */
export function checkBody(schema: TSchema, json: unknown): unknown {
  if (json === undefined) throw notJsonFailure();
  const { count, messages } = findFaults(schema, json);
  if (count === 0) return json;
  const others = count - messages.length;
  const rest = others === 0 ? [] : [`and ${others} more`];
  throw new Failure('InvalidBody', [...messages, ...rest].join('; '));
}
