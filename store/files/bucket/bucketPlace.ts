// The location of a lake in a bucket: its files are below `lake/`, files of no catalog below `unclaimed/`.
import { type Clock, momentName } from '../../base/clock.ts';
import { Failure, reasonOf } from '../../base/failure.ts';
import { HEAD_FILE, parseHead, formatHead } from '../lakeHead.ts';
import type { LakePlace } from '../lakePlace.ts';
import { isExpired } from '../unclaimed.ts';
import type { Bucket } from './bucket.ts';

const LAKE = 'lake/';
const UNCLAIMED = 'unclaimed/';
/** No load runs longer: an older file was left by a failed one. */
const YOUNG_MS = 86_400_000;

/** The key of a lake file in the bucket. */
export const lakeKey = (relative: string): string => `${LAKE}${relative}`;

/** Creates the location. Its errors are for the operator, and include the store's message. */
export function bucketPlace(bucket: Bucket, clock: Clock): LakePlace {
  const head = lakeKey(HEAD_FILE);
  const withReason = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw new Failure('Busy', `${bucket.name}: ${reasonOf(error)}`);
    });
  return {
    name: `${bucket.name}/${LAKE.slice(0, -1)}`,
    list: async () => {
      const objects = await withReason(bucket.list(LAKE));
      return objects.map(({ path, writtenMs }) => {
        const isYoung = clock() - writtenMs < YOUNG_MS;
        return { path: path.slice(LAKE.length), isYoung };
      });
    },
    missing: async (files) => {
      const objects = await withReason(bucket.list(LAKE));
      const sizes = new Map(objects.map(({ bytes, path }) => [path, bytes]));
      return files
        .filter(({ bytes, path }) => sizes.get(lakeKey(path)) !== bytes)
        .map(({ path }) => path);
    },
    readHead: async () => parseHead(await withReason(bucket.text(head))),
    writeHead: (now) => withReason(bucket.write(head, formatHead(now))),
    moveAside: async (paths, nowMs) => {
      const place = `${UNCLAIMED}${momentName(nowMs)}`;
      for (const path of paths) {
        await withReason(bucket.move(lakeKey(path), `${place}/${path}`));
      }
      return `${bucket.name}/${place}`;
    },
    removeExpired: async (nowMs) => {
      for (const { path } of await withReason(bucket.list(UNCLAIMED))) {
        const [moment = ''] = path.slice(UNCLAIMED.length).split('/');
        if (!isExpired(moment, nowMs)) continue;
        await withReason(bucket.remove(path));
      }
    },
  };
}
