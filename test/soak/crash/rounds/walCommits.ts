// Finds the ends of commits in an SQLite write-ahead log (sqlite.org/fileformat2.html, section 4): the log
// truncated after any of them is the catalog as of that commit.

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_AT = 8;
const SALTS_AT = 16;
const SALTS_BYTES = 8;
/** Offset in a frame header of the database's pages after the commit that the frame ends, or 0. */
const COMMIT_AT = 4;
const FRAME_SALTS_AT = 8;

/** Lengths of the log at which a commit is complete, the shortest first; 0 is the empty log. */
export function commitsOf(wal: Buffer): readonly number[] {
  const ends = [0];
  if (wal.length < HEADER_BYTES) return ends;
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(PAGE_SIZE_AT);
  const salts = wal.subarray(SALTS_AT, SALTS_AT + SALTS_BYTES);
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    const own = wal.subarray(at + FRAME_SALTS_AT, at + FRAME_SALTS_AT + SALTS_BYTES);
    if (!own.equals(salts)) throw new Error('the log was begun again: its history is lost');
    if (wal.readUInt32BE(at + COMMIT_AT) !== 0) ends.push(at + frameBytes);
  }
  return ends;
}
