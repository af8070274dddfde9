// The expected records of a simulated month: ten bars a day of each key, whose values follow
// from key and bar until a correction or a deletion changes them.

export interface Bar {
  readonly symbol: string;
  readonly time: string;
  readonly close: number;
  readonly volume: number;
}

const BARS_A_DAY = 10;
const DAY_MS = 86_400_000;
/** Bars are in the American session, so that a day is the same one in UTC and New York. */
const FIRST_BAR_MS = 15 * 3_600_000;
const BAR_MS = 1_800_000;

export class Bars {
  readonly #keys: number;
  readonly #startMs: number;
  /** The close of a corrected bar; undefined for a deleted one. */
  readonly #changed = new Map<string, number | undefined>();
  #days = 0;
  #deleted = 0;

  constructor(keys: number, startMs: number) {
    this.#keys = keys;
    this.#startMs = startMs;
  }

  get keys(): number {
    return this.#keys;
  }

  /** Number of loaded days. */
  get days(): number {
    return this.#days;
  }

  get barsOfKey(): number {
    return this.#days * BARS_A_DAY;
  }

  get count(): number {
    return this.#keys * this.barsOfKey - this.#deleted;
  }

  dayOf(bar: number): string {
    return this.#timeOf(bar).slice(0, 10);
  }

  /** The next day as a file; it counts once `loaded` is called. */
  nextDay(): string {
    const lines = ['symbol,time,close,volume'];
    for (let slot = 0; slot < BARS_A_DAY; slot += 1) {
      const bar = this.barsOfKey + slot;
      const time = this.#timeOf(bar);
      for (let key = 0; key < this.#keys; key += 1) {
        lines.push(`${symbolOf(key)},${time},${closeOf(key, bar)},${volumeOf(key, bar)}`);
      }
    }
    return `${lines.join('\n')}\n`;
  }

  loaded(): void {
    this.#days += 1;
  }

  /** A bar to push; it counts once `corrected` is called. */
  correction(key: number, bar: number, close: number): Bar {
    const volume = volumeOf(key, bar);
    return { symbol: symbolOf(key), time: this.#timeOf(bar), close, volume };
  }

  corrected(key: number, bar: number, close: number): void {
    const index = `${key} ${bar}`;
    if (this.#isDeleted(index)) this.#deleted -= 1;
    this.#changed.set(index, close);
  }

  /** All bars of a key on the day of a bar. */
  deletedDay(key: number, bar: number): void {
    const first = bar - (bar % BARS_A_DAY);
    for (let at = first; at < first + BARS_A_DAY; at += 1) {
      const index = `${key} ${at}`;
      if (!this.#isDeleted(index)) this.#deleted += 1;
      this.#changed.set(index, undefined);
    }
  }

  /** The latest bars of a key, as a read returns them. */
  last(key: number, count: number): readonly Bar[] {
    const bars: Bar[] = [];
    for (let bar = this.barsOfKey - 1; bar >= 0 && bars.length < count; bar -= 1) {
      const index = `${key} ${bar}`;
      if (this.#isDeleted(index)) continue;
      bars.push(this.correction(key, bar, this.#changed.get(index) ?? closeOf(key, bar)));
    }
    return bars;
  }

  #isDeleted(index: string): boolean {
    return this.#changed.has(index) && this.#changed.get(index) === undefined;
  }

  #timeOf(bar: number): string {
    const day = Math.floor(bar / BARS_A_DAY);
    const slot = bar % BARS_A_DAY;
    return new Date(this.#startMs + day * DAY_MS + FIRST_BAR_MS + slot * BAR_MS).toISOString();
  }
}

export const symbolOf = (key: number): string => `S${String(key).padStart(4, '0')}`;

const closeOf = (key: number, bar: number): number =>
  ((key * 7_919 + bar * 104_729) % 9_973) + 0.25;

const volumeOf = (key: number, bar: number): number => (key * 31 + bar * 17) % 1_000_003;
