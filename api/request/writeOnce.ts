// Runs writes with an `Idempotency-Key`: a repeated request is done once, and returns the first answer.
import { createHash } from 'node:crypto';
import { Failure } from '../../store/base/failure.ts';
import type { TransactionStep } from '../../store/catalog/database.ts';
import type { BatchStatement } from '../../store/catalog/statements.ts';
import { runBatch } from '../../store/catalog/statementBatch.ts';
import { callerGone } from '../../store/queues/timedQueue.ts';
import type { WriteKey } from '../../store/work/writeKeys.ts';
import type { Call, Services } from './endpoint.ts';

/** Visible characters of ASCII. */
const KEY = /^[!-~]{1,255}$/;

type KeyServices = Pick<Services, 'writeKeys'>;

/** One write. */
export interface Once {
  /**
   * Finds the result stored with the same key; undefined if the write is still to be done.
   * @throws Failure Conflict if the key belongs to another request.
   */
  earlier<T>(bodyHash: string): Promise<T | undefined>;
  /** Statements for the write's transaction that store the data of its answer. */
  pieces(result: object): readonly BatchStatement[];
}

/** A write without a key. */
export const UNKEYED: Once = { earlier: async () => undefined, pieces: () => [] };

/** Runs a write; not concurrently with another one with its key, and not for a disconnected caller. */
export async function writeOnce<T>(
  call: Call,
  { writeKeys }: KeyServices,
  work: (once: Once) => Promise<T>,
): Promise<T> {
  const { idempotencyKey: key } = call;
  if (key === '') return work(UNKEYED);
  if (!KEY.test(key)) {
    const rule = 'must have 1 to 255 visible ASCII characters, without spaces';
    throw new Failure('InvalidParameter', `header Idempotency-Key ${rule}`);
  }
  const { accountId = '' } = call.caller ?? {};
  return writeKeys.runSerially(accountId, key, () => {
    if (call.departure().aborted) throw callerGone();
    let writeKey: WriteKey | undefined;
    return work({
      earlier: async <Result>(bodyHash: string) => {
        const { id: dataset = '', workspace = '' } = call.path;
        const fingerprint = buildFingerprint(call, bodyHash);
        writeKey = { accountId, key, fingerprint, workspace, dataset };
        return (await writeKeys.find(writeKey)) as Result | undefined;
      },
      pieces: (result) => {
        if (writeKey === undefined)
          throw new Error('the idempotency key is stored before the lookup');
        return writeKeys.pieces(writeKey, result);
      },
    });
  });
}

/**
 * Creates an item once, and returns its id, also for a repeated request.
 * @param create creates it, and calls the passed function in the transaction that records it
 */
export const createOnce = (
  call: Call,
  services: KeyServices,
  bodyHash: string,
  create: (alongside?: TransactionStep) => Promise<string>,
): Promise<string> =>
  writeOnce(call, services, async (once) => {
    const before = await once.earlier<{ readonly id: string }>(bodyHash);
    if (before !== undefined) return before.id;
    if (once === UNKEYED) return create();
    return create((transaction, id) => runBatch(transaction, once.pieces({ id })));
  });

/** The hash of the checked body of a call. */
export const hashJson = ({ json }: Call): string => hashText(JSON.stringify(json ?? null));

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Hashes path, parameters and body, without the token: another token of the account may repeat the call. */
function buildFingerprint({ endpoint, path, query }: Call, bodyHash: string): string {
  const { version: _, ...segments } = path;
  const sorted = (values: object): readonly unknown[] => Object.entries(values).toSorted();
  return hashText(JSON.stringify([endpoint, sorted(segments), sorted(query), bodyHash]));
}
