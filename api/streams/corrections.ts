// Symbols that were told other than what is stored by now: by records that came late, changed, or were
// deleted. Their trades or offers are read anew, many at once, and not more often than each second.
import { LiveBoard } from '../../market/live/liveBoard.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { StreamServices } from './entitled.ts';
import { tellStored } from './restored.ts';
import type { TickInput } from './tickRows.ts';

/** Between two readings of one input. */
const EVERY_MS = 1_000;
/** Symbols of one reading: the others wait for the next. */
const SYMBOLS_AT_ONCE = 100;
/** Of more the whole board is forgotten: symbols are read when somebody asks. */
const SYMBOLS_MAX = 1_000;

export class Corrections {
  readonly #input: TickInput;
  readonly #services: StreamServices;
  readonly #symbols = new Set<string>();
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(input: TickInput, services: StreamServices) {
    this.#input = input;
    this.#services = services;
  }

  get isWaiting(): boolean {
    return this.#symbols.size > 0;
  }

  add(symbol: string): void {
    const { board } = this.#services.streams;
    // What the board does not have it reads when it is asked for.
    if (board.get(symbol) === undefined) return;
    this.#symbols.add(symbol);
    if (this.#symbols.size > SYMBOLS_MAX) this.forget();
  }

  /** Nobody knows what is wrong. */
  forget(): void {
    this.#symbols.clear();
    this.#services.streams.board.clear();
  }

  /** @param at of what was told: nothing may be told meanwhile */
  async settle(at: Moment): Promise<void> {
    if (!this.isWaiting || monotonicMs() - this.#readMs < EVERY_MS) return;
    this.#readMs = monotonicMs();
    const { board } = this.#services.streams;
    const { clears } = board;
    const symbols = [...this.#symbols].slice(0, SYMBOLS_AT_ONCE);
    const pasts = new Map(symbols.map((symbol) => [symbol, new LiveBoard(() => undefined)]));
    await tellStored(pasts, this.#input, this.#services, at);
    if (board.clears === clears) {
      for (const [symbol, past] of pasts) board.correct(symbol, past, this.#input);
    }
    for (const symbol of symbols) this.#symbols.delete(symbol);
  }
}
