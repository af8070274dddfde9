// The times at which tokens were last used, collected in memory so that a request costs no write.
import { isDiskFull } from '../base/failure.ts';
import type { Database } from '../catalog/database.ts';
import { toBatchStatement, runBatch } from '../catalog/statementBatch.ts';

export class TokenUses {
  readonly #database: Database;
  /** Uses that are not saved yet, by the token's id. */
  #unsaved = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
  }

  add(tokenId: string, timeMs: number): void {
    this.#unsaved.set(tokenId, timeMs);
  }

  /**
   * Saves the uses, before tokens are listed and at shutdown.
   * @returns false if the disk is full: a list of tokens must not fail for that
   */
  async save(): Promise<boolean> {
    const uses = this.#unsaved;
    if (uses.size === 0) return true;
    this.#unsaved = new Map();
    try {
      await this.#write(uses);
      return true;
    } catch (error) {
      this.#unsaved = new Map([...uses, ...this.#unsaved]);
      if (isDiskFull(error)) return false;
      throw error;
    }
  }

  async #write(uses: ReadonlyMap<string, number>): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const pieces = [...uses].map(([tokenId, last_used_ms]) =>
        toBatchStatement(
          transaction.updateTable('token').set({ last_used_ms }).where('token_id', '=', tokenId),
        ),
      );
      await runBatch(transaction, pieces);
    });
  }
}
