// Writes that carry an `Idempotency-Key`: the same request is done once, and answered as the first time.
import { createHash } from 'node:crypto';
import { Failure } from '../../store/base/failure.ts';
import type { Alongside } from '../../store/catalog/database.ts';
import type { Piece } from '../../store/catalog/statements.ts';
import { runTogether } from '../../store/catalog/together.ts';
import { callerLeft } from '../../store/queues/timedLine.ts';
import type { WriteKey } from '../../store/work/writeKeys.ts';
import type { Call, Services } from './endpoint.ts';

/** Visible characters of ASCII. */
const KEY = /^[!-~]{1,255}$/;

type KeyServices = Pick<Services, 'writeKeys'>;

/** One write. */
export interface Once {
  /**
   * What was stored with the same key; undefined: the write is to be done.
   * @throws Failure Conflict when the key belongs to another request.
   */
  earlier<T>(bodyHash: string): Promise<T | undefined>;
  /** Statements for the write's transaction: they store what its answer is made of. */
  pieces(kept: object): readonly Piece[];
}

/** A write without a key. */
export const UNKEYED: Once = { earlier: async () => undefined, pieces: () => [] };

/** Runs a write; not beside another one with its key, and not for a caller who left meanwhile. */
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
  return writeKeys.inTurn(accountId, key, () => {
    if (call.departure().aborted) throw callerLeft();
    let known: WriteKey | undefined;
    return work({
      earlier: async <Kept>(bodyHash: string) => {
        const { id: dataset = '', workspace = '' } = call.path;
        const fingerprint = fingerprintOf(call, bodyHash);
        known = { accountId, key, fingerprint, workspace, dataset };
        return (await writeKeys.find(known)) as Kept | undefined;
      },
      pieces: (kept) => {
        if (known === undefined) throw new Error('a key is stored before it was looked up');
        return writeKeys.pieces(known, kept);
      },
    });
  });
}

/**
 * The id of what a request creates, or created when it was sent before.
 * @param create creates it, and calls what it is passed in the transaction that records it
 */
export const createOnce = (
  call: Call,
  services: KeyServices,
  bodyHash: string,
  create: (alongside?: Alongside) => Promise<string>,
): Promise<string> =>
  writeOnce(call, services, async (once) => {
    const before = await once.earlier<{ readonly id: string }>(bodyHash);
    if (before !== undefined) return before.id;
    if (once === UNKEYED) return create();
    return create((transaction, id) => runTogether(transaction, once.pieces({ id })));
  });

/** Of the checked body of a call. */
export const jsonHashOf = ({ json }: Call): string => hashOf(JSON.stringify(json ?? null));

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Path, parameters and body: the token may be another one of the account. */
function fingerprintOf({ endpoint, path, query }: Call, bodyHash: string): string {
  const { version: _, ...segments } = path;
  const sorted = (values: object): readonly unknown[] => Object.entries(values).toSorted();
  return hashOf(JSON.stringify([endpoint, sorted(segments), sorted(query), bodyHash]));
}
