// The batches of one writer to one dataset, in order: the states that the dataset may have, and those it must
// have. Keys belong to one writer, so the dataset is checked writer by writer.
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

  /** The state if every sent batch is stored. */
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

  /** The last batch was acknowledged with 200; `ended` if its job had ended by then. */
  acknowledge(ended: boolean): void {
    this.#acknowledged = this.sent;
    if (ended) this.#visible = this.sent;
  }

  /** The last batch, if its outcome is unknown. */
  unanswered(): Batch | undefined {
    return this.#acknowledged < this.sent ? this.#batches.at(-1) : undefined;
  }

  /** Takes the state found after a restart as the new first state. */
  settle(at: number): void {
    this.#states = [this.#states[at] ?? new Map()];
    this.#batches = [];
    this.#acknowledged = 0;
    this.#visible = 0;
  }

  /** Finds a batch count in the range that explains all of this writer's keys, the newest first. */
  explain(
    seen: Seen,
    least: number,
    most: number,
    among: (key: string) => boolean = () => true,
  ): { readonly at: number; readonly faults: readonly string[] } {
    const isOwnKey = (key: string): boolean => key.startsWith(`${this.writer}-`) && among(key);
    const part = (state: State): State => new Map([...state].filter(([key]) => isOwnKey(key)));
    const mine = part(seen.state);
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

/** Faults of a whole dataset's records; `spanOf` returns how many batches must and may be stored. */
export function judge(
  seen: Seen,
  tracks: readonly Track[],
  spanOf: (track: Track) => readonly [least: number, most: number],
): readonly string[] {
  const prefixes = tracks.map(({ writer }) => `${writer}-`);
  const strange = [...seen.state.keys()].filter(
    (key) => !prefixes.some((own) => key.startsWith(own)),
  );
  return [
    ...seen.faults,
    ...strange.map((key) => `${key} belongs to no writer`),
    ...tracks.flatMap((track) => track.explain(seen, ...spanOf(track)).faults),
  ];
}
