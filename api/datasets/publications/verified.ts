// The bytes of a published file, of which the last ones go only when all of them are what was published: a
// disk that lies gives a download that breaks off, never a whole one that is wrong.
import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/**
 * Hashes what flows through it and holds back one piece until the end.
 * @param onWrong when the hash differs, before the flow breaks off
 */
export function verified(sha256: string, onWrong: () => void): Transform {
  const hash = createHash('sha256');
  let last: Buffer | undefined;
  return new Transform({
    transform: (piece: Buffer, _encoding, done) => {
      hash.update(piece);
      const before = last;
      last = piece;
      done(null, before);
    },
    flush: (done) => {
      if (hash.digest('hex') === sha256) {
        done(null, last);
        return;
      }
      onWrong();
      done(new Error('the published file is not what was published'));
    },
  });
}
