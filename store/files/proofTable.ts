// The hash of each lake file, beside the format's own tables, which have no place for it.
import type { Database } from '../catalog/database.ts';

/** What is known of the bytes of a file. */
export interface Proof {
  readonly fileId: number;
  readonly sha256: string;
  readonly seen: string | null;
}

/** In the transaction of the commit that names the file. */
export async function insertProof(
  transaction: Database,
  { fileId, sha256, seen }: Proof,
  nowMs: number,
): Promise<void> {
  const row = { file_id: fileId, sha256, seen, checked_ms: nowMs, damage: null };
  await transaction.insertInto('file_proof').values(row).execute();
}

/** What a comparison found. A damaged file loses what it was seen as: it is compared at each start. */
export interface Compared {
  readonly fileId: number;
  readonly sha256: string;
  readonly seen: string | null;
  readonly damage: string | null;
}

export async function saveCompared(
  database: Database,
  { damage, fileId, seen, sha256 }: Compared,
  nowMs: number,
): Promise<void> {
  const found = { seen, checked_ms: nowMs, damage };
  await database
    .insertInto('file_proof')
    .values({ file_id: fileId, sha256, ...found })
    .onConflict((conflict) => conflict.column('file_id').doUpdateSet(found))
    .execute();
}

/** Proofs of files that no version names any more go. */
export async function dropStaleProofs(database: Database): Promise<void> {
  await database
    .deleteFrom('file_proof')
    .where('file_id', 'not in', (files) =>
      files
        .selectFrom('ducklake_data_file')
        .select('data_file_id')
        .unionAll(
          files.selectFrom('ducklake_delete_file').select('delete_file_id as data_file_id'),
        ),
    )
    .execute();
}
