// The stages of a read, in their order: every read of records passes through here.
import { type Body, jsonFraming } from '../../store/duckdb/protocol.ts';
import type { Answer } from '../request/answer.ts';
import { numberOf, textOf, truthOf } from '../request/parameters.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { matchesTag } from './etag.ts';
import type { Metered } from './metering.ts';

/** A planned read: what it reads at which moment, and how it is metered. Nothing is read yet. */
export interface Reading extends Omit<Extract<Answer, { kind: 'unread' }>, 'kind'> {
  /** Holds its price, runs it, and settles what it returns: `meterCall` or `meterTogether`. */
  readonly meter: () => Promise<Metered<Body>>;
}

/**
 * Answers a planned read: not at all if the caller has cached its answer; with its price for `estimate`;
 * without a body for HEAD; else hold, run, settle, reply.
 * @throws Failure of the run, and those of `meterCall`
 */
export async function answerReading(call: ReadRequest, reading: Reading): Promise<Answer> {
  const { meter, ...plan } = reading;
  const { moment, snapshot, tag } = plan;
  const isCached = tag !== undefined && matchesTag(call.ifNoneMatch, tag);
  if (isCached && !truthOf(call.query, 'estimate'))
    return { kind: 'unchanged', snapshot, moment, tag };
  const metered = await meter();
  if (metered.kind === 'unread') return { ...metered, ...plan };
  if (metered.kind === 'estimate') return { kind: 'json', value: metered.price, metering: 'free' };
  const { charge, result: body } = metered;
  return buildRowsAnswer(call, { ...plan, body, charge });
}

/** Builds an answer of records with the output options of the query. */
export function buildRowsAnswer(
  { query }: ReadRequest,
  rows: Omit<Extract<Answer, { kind: 'rows' }>, 'kind' | 'plain' | 'callback' | 'cacheSeconds'>,
): Answer {
  const { body, format, picture, snapshot, moment, tag, charge, datasets, leftOut } = rows;
  return {
    kind: 'rows',
    body,
    format,
    picture,
    plain: textOf(query, 'format') === 'text',
    callback: jsonFraming(format) === 'json' ? textOf(query, 'callback') : undefined,
    snapshot,
    moment,
    cacheSeconds: numberOf(query, 'cacheTTL'),
    tag,
    charge,
    datasets,
    leftOut,
  };
}
