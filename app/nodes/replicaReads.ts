// Answers reads at a node that does not serve, while it receives changes from the one that serves.
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { cacheByAccount, withAccountReads } from '../../api/auth/accountServices.ts';
import type { PortContext } from '../../api/auth/admission.ts';
import {
  ChangeInProgress,
  ServingNodeRequired,
  type ReplicaServices,
  REPLICA_SERIES,
} from '../../api/endpoints/replica/replicaReads.ts';
import { REPLICA_SQL, makeReadConfirmation } from '../../api/endpoints/replica/replicaSql.ts';
import type { Targets } from '../../api/forward/forward.ts';
import type { Target } from '../../api/forward/proxyRequest.ts';
import { followPath } from '../../api/forward/nodeConnections.ts';
import { makeAccessLog } from '../../api/http/accessLog.ts';
import type { Observe } from '../../api/introspection/metrics/requestTimes.ts';
import { makeAnswerBuffers } from '../../api/http/answerBuffers.ts';
import {
  buildReplicaServer,
  type ForwardRequest,
  type HandleRequest,
} from '../../api/http/replicaServer.ts';
import { READING_PACE } from '../../api/request/body/pace.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import type { DatabaseSettings } from '../../store/base/settings/databaseSettings.ts';
import { Failure } from '../../store/base/failure.ts';
import { randomHex } from '../../store/base/random.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Files } from '../../store/files/files.ts';
import { LeasedQuota, NotLeased } from '../../store/ledger/leases/leasedQuota.ts';
import type { QuotaLessor } from '../../store/ledger/leases/quotaLessor.ts';
import { ConnectionLost } from '../../store/postgres/postgresConnection.ts';
import { postgresPlace } from '../../store/postgres/postgresPlace.ts';
import { ReplicaState } from '../../store/replica/replicaState.ts';
import {
  dropReadingFolder,
  type Copies,
  openReplica,
  type ReadingFolder,
  readingFiles,
  readingFolder,
  type ReadingPools,
  readingPools,
  createWarningLog,
} from './replica.ts';
import { RECONNECT_MS, servingConnection } from './servingConnection.ts';

/** Longest wait of a request for quota, and for the end of a change. */
const GRANT_MS = 20;
/** A permit, a lease and a block that is large enough may each need a request. */
const GRANT_TRIES = 3;
const CHANGE_MS = 100;
/** Delay after a session that ended before it could answer. */
const UNREADY_MS = 5_000;
/** Timeout of catalog queries. */
const ANSWER_MS = 5_000;
/**
 * Interval at which the serving node is checked: it may be another one, while the former connection still
 * exists.
 */
const POLL_MS = 1_000;

export interface Reading {
  /** Handler of a read; undefined where it is forwarded. */
  readonly taking: () => HandleRequest | undefined;
  /** The lake's files, and a folder for temporary ones. */
  readonly place: { readonly files: Files; readonly temporary: string };
  /**
   * @param lessor of this very node, which serves now: receives charges that were delivered and not reported
   */
  close(lessor?: QuotaLessor): Promise<void>;
}

interface ReadingParts {
  readonly settings: Settings & { readonly database: DatabaseSettings };
  readonly nodeId: string;
  readonly serving: Targets;
  readonly handOn: ForwardRequest;
  readonly observe: Observe;
  readonly log: Logger;
  /** Other copies of the lake's files at this node. */
  readonly copies: readonly Copies[];
}

/** State that is kept from one serving node to the next. */
interface Place {
  readonly copies: readonly Copies[];
  readonly quota: LeasedQuota;
  readonly files: Files;
  readonly folder: ReadingFolder;
  readonly pools: ReadingPools;
}

/** Undefined where it answers no reads: files and keys must be shared by all nodes. */
export async function startReading(parts: ReadingParts): Promise<Reading | undefined> {
  const { log, serving, settings } = parts;
  const { bucket: bucketed, data } = settings;
  if (bucketed === undefined) return undefined;
  const { openS3Bucket } = await import('../../pipeline/targets/s3Bucket.ts');
  const bucket = openS3Bucket(bucketed);
  const folder = await readingFolder(data);
  const pools = readingPools(settings, folder);
  const { cacheBytes } = bucketed;
  const own = await readingFiles({ bucket, cacheBytes, folder, log, pool: pools.read });
  const copies = [...own.copies, ...parts.copies];
  const quota = new LeasedQuota({ lessee: parts.nodeId, nowMs: monotonicMs });
  const place = { folder, pools, files: own.files, copies, quota };
  const ending = new AbortController();
  let now: Session | undefined;
  const loop = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const connection = await servingConnection(serving, followPath(parts.nodeId), ending.signal);
      if (connection === undefined) continue;
      now = newSession(parts, place, connection.socket);
      ending.signal.addEventListener('abort', now.close, { once: true });
      await Promise.all([now.ended, endWith(now, serving, connection.target)]);
      ending.signal.removeEventListener('abort', now.close);
      const waitMs = now.isReady() ? RECONNECT_MS : UNREADY_MS;
      now = undefined;
      if (!ending.signal.aborted) await serving.waitForChange(waitMs);
    }
  };
  const running = loop();
  return {
    taking: () => now?.taking(),
    place: { files: own.files, temporary: folder.temporary },
    close: async (lessor) => {
      if (lessor === undefined) await closeQuota(quota, log);
      ending.abort();
      await running;
      if (lessor !== undefined) await settleLocally(quota, lessor, parts);
      await Promise.all([pools.read.close(), pools.sql.close()]);
      bucket.close();
      await dropReadingFolder(data);
    },
  };
}

/** Charges the calls that this node answered as a replica, now that it serves. */
async function settleLocally(
  quota: LeasedQuota,
  lessor: QuotaLessor,
  { log, nodeId }: Pick<ReadingParts, 'log' | 'nodeId'>,
): Promise<void> {
  const joined = lessor.join(nodeId, (message) => quota.handle(message));
  quota.connect((message) => joined.take(message));
  await closeQuota(quota, log);
  joined.left();
}

async function closeQuota(quota: LeasedQuota, log: Logger): Promise<void> {
  const calls = await quota.close();
  if (calls > 0) log.warn({ calls }, 'it is not known whether calls were charged');
}

/** Ends a session when its serving node is replaced. */
async function endWith({ close, ended }: Session, serving: Targets, { id }: Target): Promise<void> {
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!isOver) {
    await Promise.race([ended, serving.waitForChange(POLL_MS)]);
    if (!isOver && serving.current()?.id !== id) close();
  }
}

interface Session {
  readonly taking: () => HandleRequest | undefined;
  readonly close: () => void;
  /** Whether it was able to answer at any time. */
  readonly isReady: () => boolean;
  /** Resolves once it is over and cleaned up. */
  readonly ended: Promise<void>;
}

function newSession(parts: ReadingParts, place: Place, socket: Socket): Session {
  const warn = createWarningLog(parts.log);
  const opened = Promise.withResolvers<Opened>();
  opened.promise.catch(() => undefined);
  const { copies, quota } = place;
  const { nodeReads, role } = parts.settings;
  // Other nodes receive only the removals of files.
  const answers = nodeReads && role !== 'worker';
  for (const one of copies) one.clear();
  const following = new ReplicaState({
    socket,
    clockMs: monotonicMs,
    apply: async (news) => {
      if (news.kind === 'removed') for (const one of copies) one.remove(news.paths);
      else if (answers) await (await opened.promise).apply(news);
    },
    lease: (message) => quota.handle(message),
    forgotten: (tableId) => {
      void opened.promise.then(
        ({ forget }) => forget(tableId),
        () => undefined,
      );
    },
  });
  if (answers) quota.connect((message) => following.send({ kind: 'lease', message }));
  let take: HandleRequest | undefined;
  let isReady = false;
  const run = async (): Promise<void> => {
    if (!answers) {
      isReady = true;
      return following.ended;
    }
    const database = postgresPlace(parts.settings.database).openReadOnly(ANSWER_MS);
    try {
      const snapshot = await following.welcome;
      const replica = await openReplica({ ...place, database, settings: parts.settings, snapshot });
      take = await buildReadServer(parts, replica.services, quota, following);
      opened.resolve(replica);
      following.markReady();
      isReady = true;
      await following.ended;
    } finally {
      take = undefined;
      opened.reject(new Error('it ended'));
      following.close();
      await following.ended;
      quota.disconnect();
      await database.destroy();
    }
  };
  return {
    taking: () => (following.isSure() ? take : undefined),
    close: () => following.close(),
    isReady: () => isReady,
    ended: run().catch(warn),
  };
}

type Opened = Pick<Awaited<ReturnType<typeof openReplica>>, 'apply' | 'forget'>;

function buildReadServer(
  { handOn, log, observe, settings }: ReadingParts,
  replica: Awaited<ReturnType<typeof openReplica>>['services'],
  quota: LeasedQuota,
  following: ReplicaState,
): Promise<HandleRequest> {
  const services: ReplicaServices = {
    ...replica,
    ledger: quota,
    // An operator's token is verified at the serving node.
    adminToken: randomHex(32),
    isTableCurrent: (tableId) => following.isLiveFor(tableId),
    isDirectoryCurrent: () => following.isLive(),
    isChanging: () => following.isChanging(),
    sure: makeReadConfirmation(
      () => following.captureMoment(),
      (tableId, state) => following.stateAt(tableId, state),
    ),
    admit: (caller, address) => {
      if (settings.rateLimit) quota.admit(caller, address);
    },
  };
  const warn = createWarningLog(log);
  return buildReplicaServer([...REPLICA_SERIES, ...REPLICA_SQL], {
    services,
    servicesFor: cacheByAccount((accountId) => withAccountReads(services, accountId)),
    port: createDoor(settings),
    answerBuffers: makeAnswerBuffers(settings.answerDiskBytes, READING_PACE),
    recordAnswer: makeAccessLog(log, observe),
    onForwarded: (error) => {
      const isOfCall = error instanceof Failure && !(error instanceof ConnectionLost);
      if (isOfCall || error instanceof ServingNodeRequired) return;
      // Its state can't be trusted any more: it starts again.
      warn(error);
      following.close();
    },
    waitForRetry: (error, tries) => {
      if (error instanceof NotLeased) {
        return tries > GRANT_TRIES ? undefined : quota.waitForGrant(GRANT_MS);
      }
      return error instanceof ChangeInProgress ? following.waitForChange(CHANGE_MS) : undefined;
    },
    forward: handOn,
  });
}

const createDoor = ({ trustedProxies: proxies }: Settings): PortContext => ({
  environment: 'production',
  hasStreamsOnly: false,
  proxies,
  proxySigning: undefined,
  throttle: {
    address: () => undefined,
    token: () => undefined,
  },
  replays: {
    record: () => {
      throw new ServingNodeRequired();
    },
  },
});
