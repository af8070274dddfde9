// The place of a lake in a bucket: its files below `lake/`, what no catalog knows below `unclaimed/`.
import { type Clock, momentName } from '../../base/clock.ts';
import { Failure, reasonOf } from '../../base/failure.ts';
import { HEAD_FILE, headIn, headText } from '../lakeHead.ts';
import type { LakePlace } from '../lakePlace.ts';
import { isOver } from '../unclaimed.ts';
import type { Bucket } from './bucket.ts';

const LAKE = 'lake/';
const UNCLAIMED = 'unclaimed/';
/** A load is never under way for longer: what is older was left by it. */
const YOUNG_MS = 86_400_000;

/** Where the bucket has a file of the lake. */
export const inLake = (relative: string): string => `${LAKE}${relative}`;

/** What it asks is the operator's matter: she is told what the store said. */
export function bucketPlace(bucket: Bucket, clock: Clock): LakePlace {
  const head = inLake(HEAD_FILE);
  const asked = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw new Failure('Busy', `${bucket.name}: ${reasonOf(error)}`);
    });
  return {
    name: `${bucket.name}/${LAKE.slice(0, -1)}`,
    list: async () => {
      const found = await asked(bucket.list(LAKE));
      return found.map(({ path, writtenMs }) => {
        const isYoung = clock() - writtenMs < YOUNG_MS;
        return { path: path.slice(LAKE.length), isYoung };
      });
    },
    missing: async (files) => {
      const found = await asked(bucket.list(LAKE));
      const sizes = new Map(found.map(({ bytes, path }) => [path, bytes]));
      return files
        .filter(({ bytes, path }) => sizes.get(inLake(path)) !== bytes)
        .map(({ path }) => path);
    },
    readHead: async () => headIn(await asked(bucket.text(head))),
    writeHead: (now) => asked(bucket.write(head, headText(now))),
    putAside: async (paths, nowMs) => {
      const place = `${UNCLAIMED}${momentName(nowMs)}`;
      for (const path of paths) {
        const moved = bucket.move(inLake(path), `${place}/${path}`);
        await asked(moved);
      }
      return `${bucket.name}/${place}`;
    },
    endAside: async (nowMs) => {
      for (const { path } of await asked(bucket.list(UNCLAIMED))) {
        const [moment = ''] = path.slice(UNCLAIMED.length).split('/');
        if (!isOver(moment, nowMs)) continue;
        await asked(bucket.remove(path));
      }
    },
  };
}
