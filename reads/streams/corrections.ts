// Corrects symbols whose published state differs from the stored one, after late, changed or deleted records.
// Their trades or quotes are read again in batches, at most once a second.
import { LiveBoard } from '../../market/live/liveBoard.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { StreamServices } from './streamAccess.ts';
import { applyStored } from './boardRecovery.ts';
import type { TickInput } from './tickRows.ts';

/** Minimum time between two reads of one input. */
const READ_INTERVAL_MS = 1_000;
/** Maximum symbols of one read: the others wait for the next. */
const BATCH_SIZE = 100;
/** Maximum symbols to correct; with more the whole board is cleared and symbols are read on request. */
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
    // A symbol that is not on the board is read on request anyway.
    if (board.get(symbol) === undefined) return;
    this.#symbols.add(symbol);
    if (this.#symbols.size > SYMBOLS_MAX) this.forget();
  }

  /** Clears the board, when the wrong symbols are unknown. */
  forget(): void {
    this.#symbols.clear();
    this.#services.streams.board.clear();
  }

  /** Corrects the next symbols. @param at the published moment: nothing may be published meanwhile */
  async settle(at: Moment): Promise<void> {
    if (!this.isWaiting || monotonicMs() - this.#readMs < READ_INTERVAL_MS) return;
    this.#readMs = monotonicMs();
    const { board } = this.#services.streams;
    const { clears } = board;
    const symbols = [...this.#symbols].slice(0, BATCH_SIZE);
    const pasts = new Map(symbols.map((symbol) => [symbol, new LiveBoard(() => undefined)]));
    await applyStored(pasts, this.#input, this.#services, at);
    if (board.clears === clears) {
      for (const [symbol, past] of pasts) board.correct(symbol, past, this.#input);
    }
    for (const symbol of symbols) this.#symbols.delete(symbol);
  }
}
