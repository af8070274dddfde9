// When tokens were last used: kept in memory, since a use may not cost a write.
import { isDiskFull } from '../base/failure.ts';
import type { Database } from '../catalog/database.ts';
import { pieceOf, runTogether } from '../catalog/together.ts';

export class TokenUses {
  readonly #database: Database;
  /** Since they were last written, by the token's id. */
  #used = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
  }

  add(tokenId: string, timeMs: number): void {
    this.#used.set(tokenId, timeMs);
  }

  /**
   * Writes them, before tokens are listed and at the end.
   * @returns false where the disk is full: that is no reason not to show what is there
   */
  async save(): Promise<boolean> {
    const uses = this.#used;
    if (uses.size === 0) return true;
    this.#used = new Map();
    try {
      await this.#write(uses);
      return true;
    } catch (error) {
      this.#used = new Map([...uses, ...this.#used]);
      if (isDiskFull(error)) return false;
      throw error;
    }
  }

  async #write(uses: ReadonlyMap<string, number>): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const pieces = [...uses].map(([tokenId, last_used_ms]) =>
        pieceOf(
          transaction.updateTable('token').set({ last_used_ms }).where('token_id', '=', tokenId),
        ),
      );
      await runTogether(transaction, pieces);
    });
  }
}
