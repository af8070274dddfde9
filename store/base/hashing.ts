// Who hashes: this process what is small, a child what would keep the event loop.
import { type Content, contentOf } from './contents.ts';

/** Hashed here: 0.5 ms. A child takes as long to be asked beside others. */
const SMALL_BYTES = 1_000_000;
/** A disk gives at least 10 MB/s. */
const BYTES_A_MS_LEAST = 10_000;
const LEAST_MS = 60_000;

/** Length and SHA-256 of a file, by its path and its length as far as it is known. */
export type HashFile = (path: string, bytes: number) => Promise<Content>;

export function hashIn(pool: {
  contents(files: readonly string[], deadlineMs: number): Promise<readonly Content[]>;
}): HashFile {
  return async (path, bytes) => {
    if (bytes <= SMALL_BYTES) return contentOf(path);
    const deadlineMs = LEAST_MS + bytes / BYTES_A_MS_LEAST;
    const [content] = await pool.contents([path], deadlineMs);
    return content ?? contentOf(path);
  };
}
