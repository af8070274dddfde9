// Verifies a published file while it is sent, and holds its last bytes back until the hash matches: a corrupt
// file ends in an aborted download, never in a complete wrong one.
import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/**
 * Hashes the stream and holds back one piece until the end.
 * @param onWrong called if the hash differs, before the stream fails
 */
export function makeHashVerifier(sha256: string, onWrong: () => void): Transform {
  const hash = createHash('sha256');
  let last: Buffer | undefined;
  return new Transform({
    transform: (piece: Buffer, _encoding, done) => {
      hash.update(piece);
      const previous = last;
      last = piece;
      done(null, previous);
    },
    flush: (done) => {
      if (hash.digest('hex') === sha256) {
        done(null, last);
        return;
      }
      onWrong();
      done(new Error('the published file differs from what was published'));
    },
  });
}
