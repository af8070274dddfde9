// The hash of each lake file.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface FileProofTable {
  /** `data_file_id` or `delete_file_id`: the format takes both from one sequence. */
  readonly file_id: number;
  readonly sha256: string;
  /** The file's identity when its bytes were last correct; null if they are not. */
  readonly seen: string | null;
  /** When the bytes were last compared. */
  readonly checked_ms: number;
  /** The damage of the file; null if none is known. */
  readonly damage: string | null;
}

export async function addFileProofs(database: Kysely<unknown>): Promise<void> {
  const columns = 'file_id! bigint, sha256 text, seen text, checked_ms bigint, damage text';
  await createTable(database, 'file_proof', columns);
}
