// A client that reads what the writers load, checks every answer, and keeps its metering headers.
import { type Seen, seenIn } from './rounds/batches.ts';
import type { Seeded } from './rounds/seeded.ts';
import { judge, type Track } from './track.ts';
import type { Door } from './victim/writer.ts';

/** One metered call as its client sees it. */
interface Call {
  /** The most that it may cost, computed once the run is over. */
  readonly bound: () => number;
  /** From its header; undefined without an answer. */
  messages: number | undefined;
  /** When its body was complete, in epoch milliseconds; undefined for an incomplete one. */
  endedMs: number | undefined;
}

/** Every metered call of a run. */
export type Meter = Call[];

/** Maximum records of one answer, for the tier of the first account. */
export const ANSWER_ROWS_MAX = 10_000;

/** All records of a dataset, or of one key of it; undefined if the server is gone. */
export async function readRows(
  door: Door,
  dataset: string,
  key: string,
  meter: Meter,
  bound: () => number,
): Promise<readonly Readonly<Record<string, unknown>>[] | undefined> {
  const call: Call = { bound, messages: undefined, endedMs: undefined };
  meter.push(call);
  const query = `from=1900-01-01&limit=${ANSWER_ROWS_MAX}&token=${door.publishable}`;
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${door.base}/v1/data/WS/${dataset}/${key}?${query}`);
    call.messages = Number(answer.headers.get('svccloud-messages-used') ?? 0);
    text = await answer.text();
    call.endedMs = Date.now();
  } catch {
    return undefined;
  }
  if (answer.status === 404) return [];
  if (answer.status !== 200) throw new Error(`a read was answered ${answer.status}: ${text}`);
  const rows = JSON.parse(text) as readonly Readonly<Record<string, unknown>>[];
  if (call.messages !== rows.length) {
    throw new Error(`${rows.length} records were charged with ${call.messages}`);
  }
  return rows;
}

/** Reads whole datasets and single keys until stopped or until the server is gone. */
export async function keepReading(
  door: Door,
  tracks: readonly Track[],
  random: Seeded,
  meter: Meter,
  fault: (what: string) => void,
  stopped: () => boolean,
): Promise<void> {
  while (!stopped()) {
    const track = tracks[random.between(0, tracks.length - 1)];
    if (track === undefined) return;
    const read = random.chance(0.5) ? readWhole : readKey;
    try {
      const faults = await read(door, track, tracks, random, meter);
      if (faults === undefined) return;
      for (const what of faults) fault(`a reader saw: ${what}`);
    } catch (error) {
      fault(String(error));
      return;
    }
  }
}

type Read = (
  door: Door,
  track: Track,
  tracks: readonly Track[],
  random: Seeded,
  meter: Meter,
) => Promise<readonly string[] | undefined>;

/** No batch may be incomplete, and none missing that was visible before the request. */
const readWhole: Read = async (door, { dataset }, tracks, _random, meter) => {
  const mine = tracks.filter((track) => track.dataset === dataset);
  const least = new Map(mine.map((track) => [track, track.visible]));
  const bound = (): number =>
    mine.reduce((sum, { newest }) => sum + [...newest.values()].reduce((n, h) => n + h.rows, 0), 0);
  const rows = await readRows(door, dataset, '', meter, bound);
  if (rows === undefined) return undefined;
  return judge(seenIn(rows), mine, (track) => [least.get(track) ?? 0, track.sent]);
};

const readKey: Read = async (door, track, _tracks, random, meter) => {
  const keys = [...track.newest.keys()];
  const key = keys[random.between(0, keys.length - 1)] ?? `${track.writer}-none`;
  const least = track.visible;
  const bound = (): number => track.newest.get(key)?.rows ?? 0;
  const rows = await readRows(door, track.dataset, key, meter, bound);
  if (rows === undefined) return undefined;
  const seen: Seen = seenIn(rows);
  const { faults } = track.explain(seen, least, track.sent, (one) => one === key);
  return [...seen.faults, ...faults];
};
