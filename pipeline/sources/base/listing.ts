// Finds the items of a listing that have not been pulled yet. A time alone is not enough: a file may be
// copied in with its old time, and a multi-part upload has the time of its beginning. So the position
// remembers the newest few thousand by name and version, and only older ones are decided by time.
import { toPosition, shortHash, findSince, positionText } from './position.ts';
import { type Position, type PullOrder, SourceFailure } from './source.ts';

/** A file or an object. */
export interface Listed {
  readonly name: string;
  readonly bytes: number;
  /** Texts that sort like the times of the source's clock. */
  readonly time: string;
  /** A value that changes with the content: a time to the nanosecond, an ETag. */
  readonly version: string;
}

interface Fresh<Item extends Listed> {
  readonly item: Item;
  /** The position of the pull after this item is stored. */
  readonly position: Position;
}

/** 12 characters each: 48 kB of position. */
const REMEMBERED_MAX = 4_000;
/** Maximum items in memory, some 300 bytes each. */
const LISTED_MAX = 100_000;

/** Collects a listing of bounded size, without the items that were pulled long ago. */
export interface Listing<Item extends Listed> {
  /** @throws SourceFailure over `LISTED_MAX` items. */
  add(item: Item): void;
  /** The new items, oldest first, then by name; with the position after each. */
  fresh(): Generator<Fresh<Item>, void>;
  /** Total bytes of the new items. */
  bytes(): number;
}

interface Placed<Item extends Listed> {
  readonly item: Item;
  /** Sort key: the order in which items are pulled. */
  readonly place: string;
  readonly mark: string;
}

export function openListing<Item extends Listed>(
  order: PullOrder,
  rememberedMax = REMEMBERED_MAX,
): Listing<Item> {
  const since = findSince(order);
  const floor = positionText(since, 'floor') ?? '';
  const marks = new Set(positionText(since, 'known')?.match(/.{12}/g) ?? []);
  const items: Placed<Item>[] = [];
  const isNew = ({ mark }: Placed<Item>): boolean => !marks.has(mark);
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
        const rememberedMarks = remembered.map(({ mark }) => mark).join('');
        const position = toPosition(order.definition, { floor: lowest, known: rememberedMarks });
        yield { item: placed.item, position };
      }
    },
    bytes: () => items.filter(isNew).reduce((sum, { item }) => sum + item.bytes, 0),
  };
}

/** The index of `place` in sorted items. */
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
