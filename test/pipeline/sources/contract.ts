// A source with a real server behind it, as the cases of the contract see it.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Landing,
  type Piece,
  type Position,
  type Pull,
  type PullOrder,
  SourceFailure,
} from '../../../pipeline/sources/base/source.ts';
import type { Wire } from '../../base/servers/wire.ts';

/** A source with a real server behind it, which starts empty. */
export interface World extends AsyncDisposable {
  readonly pull: Pull;
  readonly order: Pick<PullOrder, 'definition' | 'credential'>;
  /** Adds a new batch of `bytes` bytes or more; its records contain `batch`. */
  add(batch: number, bytes?: number): Promise<void>;
  /** Orders without the required access, and the reason of their refusal. */
  readonly refused: Readonly<Record<string, Refused>>;
  /** The proxy of each connection; undefined where there is none. */
  readonly wire?: Wire;
  /** A pull with a short deadline: for answers that never arrive. */
  readonly impatient: Pull;
}

interface Refused {
  readonly order: Partial<Pick<PullOrder, 'definition' | 'credential'>>;
  readonly why: RegExp;
}

export interface Kind {
  readonly name: string;
  start(): Promise<World>;
  /** `one`: a body that is sent whole when it changed; `each`: a piece for each batch. */
  readonly sends: 'one' | 'each' | 'rows';
  /** Bytes that are exchanged before the records; 0 when there is no wire. */
  readonly untilRecords: number;
  /** Size of the large batch, when it cannot be 50 MB. */
  readonly largeBytes?: number;
}

interface Pulled {
  readonly names: readonly string[];
  /** `batch` of the records, each once, in the order of arrival. */
  readonly batches: readonly number[];
  readonly texts: readonly string[];
  readonly position: Position | undefined;
}

interface Options {
  readonly since?: Position | undefined;
  readonly landing?: Partial<Landing>;
  readonly order?: Partial<PullOrder>;
  readonly pull?: Pull;
  /** Maximum number of pieces to pull. */
  readonly most?: number;
}

/** Pulls into a new folder; proves that it holds the reported files, and nothing after a failure. */
export async function pulled(
  world: Pick<World, 'order' | 'pull'>,
  options: Options = {},
): Promise<Pulled> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-landing-'));
  const { since, most = Infinity } = options;
  const landing: Landing = {
    folder,
    bytesMax: 1024 ** 3,
    signal: new AbortController().signal,
    nowMs: Date.UTC(2031, 0, 1),
    onBytes: () => undefined,
    ...options.landing,
  };
  const pieces: Piece[] = [];
  const texts: string[] = [];
  const files = async (): Promise<readonly string[]> => (await readdir(folder)).sort();
  try {
    const order = { ...world.order, since, landing, owner: OWNER, ...options.order };
    for await (const piece of (options.pull ?? world.pull)(order)) {
      pieces.push(piece);
      const body = await readFile(piece.path);
      assert.equal(body.length, piece.bytes);
      texts.push(body.toString('utf8'));
      assert.deepEqual(
        await files(),
        pieces.map(({ path }) => path.slice(folder.length + 1)).sort(),
      );
      if (pieces.length >= most) break;
    }
    const position = pieces.at(-1)?.position;
    // It is stored as JSON, beside every batch of records.
    assert.deepEqual(position, position && JSON.parse(JSON.stringify(position)));
    assert.ok(JSON.stringify(position ?? {}).length < 100_000);
    return { names: pieces.map(({ name }) => name), batches: batchesOf(texts), texts, position };
  } finally {
    assert.equal((await files()).length, pieces.length, 'a failure leaves no file');
    await rm(folder, { recursive: true, force: true });
  }
}

export const OWNER = { accountId: 'a', workspace: 'WS' };

const batchesOf = (texts: readonly string[]): readonly number[] => [
  ...new Set(
    texts.flatMap((text) => [...text.matchAll(/"batch":\s*(\d+)/g)].map(([, id]) => Number(id))),
  ),
];

export const failing =
  (why: RegExp, transient: boolean) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof SourceFailure, String(error));
    assert.match(error.detail ?? '', why);
    assert.equal(error.transient, transient, error.detail);
    return true;
  };

/** Texts of a batch's records, in all `bytes` bytes or a little more; generated lazily. */
export function* recordsOf(batch: number, bytes = 0): Generator<string, void> {
  const record = JSON.stringify({ batch, text: 'x'.repeat(Math.min(1_000, bytes)) });
  const count = Math.max(2, Math.ceil(bytes / record.length));
  for (let n = 0; n < count; n += 1) yield record.replace('{', `{"n":${n},`);
}
