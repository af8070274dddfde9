// What of a listing has not come yet. A time alone does not tell: a file may be copied in with its
// old time, and an upload in parts bears the time it began. So the position remembers the newest
// few thousand by what they are, and only below those a time decides.
import { positionOf, shortHash, sinceOf, textOf } from './position.ts';
import { type Position, type PullOrder, SourceFailure } from './source.ts';

/** A file or an object. */
export interface Listed {
  readonly name: string;
  readonly bytes: number;
  /** Texts that sort as the times do; of the source's clock, never of ours. */
  readonly time: string;
  /** What changes when its content does: a time to the nanosecond, an ETag. */
  readonly version: string;
}

interface Fresh<Item extends Listed> {
  readonly item: Item;
  /** Of the pull, once this item is stored. */
  readonly position: Position;
}

/** 12 characters each: 48 kB of position. */
const REMEMBERED_MAX = 4_000;
/** Held in memory at once, some 300 bytes each. */
const LISTED_MAX = 100_000;

/** Gathers a listing: leaves out what came long ago, and has a limit. */
export interface Listing<Item extends Listed> {
  /** @throws SourceFailure over `LISTED_MAX` items. */
  add(item: Item): void;
  /** What is new, oldest first, then by name; with the position after each. */
  fresh(): Generator<Fresh<Item>, void>;
  /** Bytes of all that is new. */
  bytes(): number;
}

interface Placed<Item extends Listed> {
  readonly item: Item;
  /** Sorts as items are to come. */
  readonly place: string;
  readonly mark: string;
}

export function openListing<Item extends Listed>(
  order: PullOrder,
  rememberedMax = REMEMBERED_MAX,
): Listing<Item> {
  const since = sinceOf(order);
  const floor = textOf(since, 'floor') ?? '';
  const known = new Set(textOf(since, 'known')?.match(/.{12}/g) ?? []);
  const items: Placed<Item>[] = [];
  const isNew = ({ mark }: Placed<Item>): boolean => !known.has(mark);
  return {
    add: (item) => {
      const place = `${item.time} ${item.name}`;
      if (place <= floor) return;
      if (items.length === LISTED_MAX) {
        const rule = `a pattern names at most ${LISTED_MAX} that are new`;
        throw new SourceFailure(`${rule}: make it narrower`, false);
      }
      items.push({ item, place, mark: markOf(item) });
    },
    *fresh() {
      items.sort((a, b) => (a.place < b.place ? -1 : 1));
      const remembered = items.filter((placed) => !isNew(placed));
      let lowest = floor;
      for (const placed of items.filter(isNew)) {
        remembered.splice(indexOf(remembered, placed.place), 0, placed);
        if (remembered.length > rememberedMax) lowest = remembered.shift()?.place ?? lowest;
        const marks = remembered.map(({ mark }) => mark).join('');
        const position = positionOf(order.definition, { floor: lowest, known: marks });
        yield { item: placed.item, position };
      }
    },
    bytes: () => items.filter(isNew).reduce((sum, { item }) => sum + item.bytes, 0),
  };
}

/** Where `place` stands among sorted ones. */
function indexOf(sorted: readonly { readonly place: string }[], place: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.place ?? '') < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

const markOf = ({ name, bytes, version }: Listed): string =>
  shortHash(JSON.stringify([name, bytes, version]));
