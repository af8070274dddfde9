// A client that loads batches one after the other, each after the answer to the one before.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, csvOf, DATASET_NAMES, DATASETS, type State } from '../rounds/batches.ts';
import type { Seeded } from '../rounds/seeded.ts';
import { Track } from '../track.ts';

/** Base URL and tokens of a server. */
export interface Door {
  readonly base: string;
  readonly publishable: string;
  readonly secret: string;
}

interface WriterEvents {
  readonly sending?: (track: Track) => void;
  readonly acknowledged?: (track: Track, jobId: string) => void;
  readonly fault: (what: string) => void;
}

const EXIT_MS_MAX = 10_000;
const ROWS_MOST = 40;
const ROWS_OF_A_BIG_ONE = 300;
const ROWS_OF_THE_SET = 7;

export class Writer {
  readonly tracks: readonly Track[];
  readonly #name: string;
  readonly #random: Seeded;
  #batches = 0;
  #version = 1;
  /** Loads into one dataset without waiting: their jobs queue, and must keep their order. */
  #burst = { dataset: 'A', left: 0 };
  /** The batch that was unanswered when the server died: a careful client sends it again. */
  #again: Batch | undefined;

  constructor(name: string, random: Seeded) {
    this.#name = name;
    this.#random = random;
    this.tracks = DATASET_NAMES.map((dataset) => new Track(name, dataset));
  }

  /** Loads until stopped, until `most` batches are answered, or until the server is gone. */
  async run(
    door: Door,
    events: WriterEvents,
    stopped: () => boolean,
    most = Number.MAX_SAFE_INTEGER,
  ): Promise<void> {
    for (let done = 0; done < most && !stopped(); done += 1) {
      if (!(await this.#loadOne(door, events, stopped))) return;
      if (this.#random.chance(0.2)) await sleep(this.#random.between(1, 30));
    }
  }

  /** Called after a restart and its verification; `at` returns the stored batch count of each track. */
  settle(at: (track: Track) => number): void {
    const [open] = this.tracks.flatMap((track) => track.unanswered() ?? []);
    // A stored record of N can not be distinguished from one that is sent again.
    const again = open !== undefined && open.dataset !== 'N' && this.#random.chance(0.6);
    this.#again = again ? open : undefined;
    for (const track of this.tracks) track.settle(at(track));
  }

  /** False when the server is gone or has refused. */
  async #loadOne(door: Door, events: WriterEvents, stopped: () => boolean): Promise<boolean> {
    const batch = this.#again ?? this.#choose();
    this.#again = undefined;
    const track = this.tracks.find(({ dataset }) => dataset === batch.dataset);
    if (track === undefined) return false;
    const wait = this.#burst.left === 0 && this.#random.chance(0.6);
    const slow = this.#random.chance(0.1);
    const body = csvOf(batch, this.#random);
    track.send(batch);
    events.sending?.(track);
    let answer: { readonly status: number; readonly text: string };
    try {
      answer = await post(door, batch, body, wait, slow);
    } catch {
      // The connection broke: only a dying server may do that. Its sockets close before the process ends,
      // and on a loaded machine its memory takes longer than 100 ms to be freed.
      for (let waited = 0; waited < EXIT_MS_MAX && !stopped(); waited += 20) await sleep(20);
      if (!stopped()) events.fault(`${batch.id}: the connection broke, and the server lives`);
      return false;
    }
    if (answer.status !== 200) {
      events.fault(`${batch.id} was answered with ${answer.status}: ${answer.text.slice(0, 300)}`);
      return false;
    }
    track.acknowledge(wait);
    events.acknowledged?.(track, (JSON.parse(answer.text) as { readonly jobId: string }).jobId);
    return true;
  }

  #choose(): Batch {
    const random = this.#random;
    const inBurst = this.#nextOfBurst();
    const { dataset } = this.#burst;
    const track = this.tracks.find((one) => one.dataset === dataset);
    this.#batches += 1;
    this.#version += 1;
    const version = this.#version;
    const id = `${this.#name}-b${this.#batches}`;
    const rows = random.chance(0.03) ? ROWS_OF_A_BIG_ONE : random.between(1, ROWS_MOST);
    const own = { key: id, rows, version: 1 };
    const set = { key: `${this.#name}-set`, rows: ROWS_OF_THE_SET, version };
    const earlier = this.#earlier(track?.newest ?? new Map(), set.key, version);
    if (dataset === 'N') return { id, dataset, mode: 'ignore', writes: [own] };
    const kinds = ['set', 'withSet', 'rewrite'] as const;
    const kind = random.pick(inBurst ? kinds : [...kinds, 'fresh', 'again']);
    if (kind === 'fresh') return { id, dataset, mode: 'ignore', writes: [own] };
    if (kind === 'again') return { id, dataset, mode: 'ignore', writes: [own, ...earlier] };
    if (kind === 'set') return { id, dataset, mode: 'replace', writes: [set] };
    const writes = kind === 'withSet' ? [own, set] : [set, ...earlier];
    return { id, dataset, mode: 'replace', writes };
  }

  /** Chooses the dataset; whether the batch is one of a burst. */
  #nextOfBurst(): boolean {
    const random = this.#random;
    if (this.#burst.left > 0) {
      this.#burst.left -= 1;
      return true;
    }
    const left = random.chance(0.15) ? random.between(2, 4) : 0;
    this.#burst = { dataset: random.pick(DATASET_NAMES), left };
    return left > 0;
  }

  /** Up to three keys of this writer in the dataset, to be written again. */
  #earlier(state: State, setKey: string, version: number): Batch['writes'] {
    const entries = [...state].filter(([key]) => key !== setKey);
    const chosen = new Map<string, number>();
    for (let count = this.#random.between(1, 3); count > 0; count -= 1) {
      const [key, record] = entries[this.#random.between(0, entries.length - 1)] ?? [];
      if (key !== undefined && record !== undefined) chosen.set(key, record.rows);
    }
    return [...chosen].map(([key, rows]) => ({ key, rows, version }));
  }
}

async function post(
  door: Door,
  batch: Batch,
  body: Buffer,
  wait: boolean,
  slow: boolean,
): Promise<{ readonly status: number; readonly text: string }> {
  const query = new URLSearchParams({
    ...DATASETS[batch.dataset as keyof typeof DATASETS],
    wait: String(wait),
    duplicateKeyHandling: batch.mode,
    token: door.secret,
  });
  const url = `${door.base}/v1/data/WS/${batch.dataset}?${query}`;
  const answer = slow
    ? await fetch(url, { method: 'POST', body: inPieces(body), duplex: 'half' })
    : await fetch(url, { method: 'POST', body: new Uint8Array(body) });
  return { status: answer.status, text: await answer.text() };
}

/** A body that is sent slowly, so that a kill interrupts it. */
function inPieces(body: Buffer): ReadableStream<Uint8Array> {
  const size = Math.ceil(body.length / 4);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await sleep(15);
      controller.enqueue(new Uint8Array(body.subarray(at, at + size)));
      at += size;
      if (at >= body.length) controller.close();
    },
  });
}
