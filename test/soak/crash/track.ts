// What one writer did to one dataset, in order: the states it may be in, and those it must be in.
// Keys belong to one writer, so the dataset is judged writer by writer.
import { after, type Batch, differences, type Seen, type State } from './rounds/batches.ts';

export class Track {
  readonly writer: string;
  readonly dataset: string;
  /** `states[n]`: after n batches since the last verified state. */
  #states: State[] = [new Map()];
  #batches: Batch[] = [];
  #acknowledged = 0;
  #visible = 0;

  constructor(writer: string, dataset: string) {
    this.writer = writer;
    this.dataset = dataset;
  }

  /** As if all that was sent is there. */
  get newest(): State {
    return this.#states.at(-1) ?? new Map();
  }

  get sent(): number {
    return this.#batches.length;
  }

  /** Batches that every read from now on must show. */
  get visible(): number {
    return this.#visible;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  send(batch: Batch): void {
    this.#states.push(after(this.newest, batch));
    this.#batches.push(batch);
  }

  /** The last one was answered with 200; `ended` when its job had ended by then. */
  acknowledge(ended: boolean): void {
    this.#acknowledged = this.sent;
    if (ended) this.#visible = this.sent;
  }

  /** The last one, when nobody knows whether it happened. */
  unanswered(): Batch | undefined {
    return this.#acknowledged < this.sent ? this.#batches.at(-1) : undefined;
  }

  /** What was found after a restart is what there is. */
  settle(at: number): void {
    this.#states = [this.#states[at] ?? new Map()];
    this.#batches = [];
    this.#acknowledged = 0;
    this.#visible = 0;
  }

  /** A batch between two counts that explains all of this writer's keys, the newest first. */
  explain(
    seen: Seen,
    least: number,
    most: number,
    among: (key: string) => boolean = () => true,
  ): { readonly at: number; readonly faults: readonly string[] } {
    const asked = (key: string): boolean => key.startsWith(`${this.writer}-`) && among(key);
    const part = (state: State): State => new Map([...state].filter(([key]) => asked(key)));
    const mine = part(seen.held);
    let nearest: readonly string[] | undefined;
    for (let at = most; at >= least; at -= 1) {
      const apart = differences(part(this.#states[at] ?? new Map()), mine);
      if (apart.length === 0) return { at, faults: [] };
      if (nearest === undefined || apart.length < nearest.length) nearest = apart;
    }
    const span = `after ${least} to ${most} of ${this.sent} batches`;
    const listed = (nearest ?? []).slice(0, 6).join('; ');
    return { at: most, faults: [`${this.dataset} of ${this.writer}, ${span}: ${listed}`] };
  }
}

/** Faults of a whole dataset's records; `spanOf` says how many batches may and must be there. */
export function judge(
  seen: Seen,
  tracks: readonly Track[],
  spanOf: (track: Track) => readonly [least: number, most: number],
): readonly string[] {
  const known = tracks.map(({ writer }) => `${writer}-`);
  const strange = [...seen.held.keys()].filter((key) => !known.some((own) => key.startsWith(own)));
  return [
    ...seen.faults,
    ...strange.map((key) => `${key} belongs to no writer`),
    ...tracks.flatMap((track) => track.explain(seen, ...spanOf(track)).faults),
  ];
}
