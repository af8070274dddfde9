// The table of the hashes of lake files. The format's own tables have no column for them.
import type { Database } from '../catalog/database.ts';

/** The hash of a file, and its identity when the bytes were last correct. */
export interface Proof {
  readonly fileId: number;
  readonly sha256: string;
  readonly seen: string | null;
}

/** Inserts a proof in the transaction of the commit that names the file. */
export async function insertProof(
  transaction: Database,
  { fileId, sha256, seen }: Proof,
  nowMs: number,
): Promise<void> {
  const row = { file_id: fileId, sha256, seen, checked_ms: nowMs, damage: null };
  await transaction.insertInto('file_proof').values(row).execute();
}

/** The result of a comparison. A damaged file has no identity (`seen`): it is compared at each start. */
export interface Comparison {
  readonly fileId: number;
  readonly sha256: string;
  readonly seen: string | null;
  readonly damage: string | null;
}

export async function saveComparison(
  database: Database,
  { damage, fileId, seen, sha256 }: Comparison,
  nowMs: number,
): Promise<void> {
  const columns = { seen, checked_ms: nowMs, damage };
  await database
    .insertInto('file_proof')
    .values({ file_id: fileId, sha256, ...columns })
    .onConflict((conflict) => conflict.column('file_id').doUpdateSet(columns))
    .execute();
}

/** Deletes the proofs of files that no version references. */
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
