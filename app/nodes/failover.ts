// Runs one of several nodes that share a catalog: it forwards requests while another one serves, and takes
// over when none does.
import { setTimeout as sleep } from 'node:timers/promises';
import { readFile } from 'node:fs/promises';
import { VERSION } from '../../store/base/version.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { newUuid, randomHex, randomFraction } from '../../store/base/random.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { NodeTable } from '../../store/postgres/nodeTable.ts';
import type { DatabaseSettings } from '../../store/base/settings/databaseSettings.ts';
import type { Throttle } from '../../api/request/throttle.ts';
import type { QuotaLessor } from '../../store/ledger/leases/quotaLessor.ts';
import type { Followers } from '../../store/replica/followers.ts';
import type { Core, Seams } from '../core.ts';
import { type FrontNode, openFront } from './frontNode.ts';
import { openLog } from '../../api/http/logging.ts';
import { createFollowers } from './followers.ts';
import { makeFence } from './fence.ts';
import { startRemoteProcesses } from './remoteProcesses.ts';
import { startLoadWorkers } from './loadWorkers.ts';
import { startReading } from './replicaReads.ts';
import { startTapedeck, type Tapedeck } from '../main.ts';
import { keepRequestsYoung } from '../v8Flags.ts';

const POLL_MS = 50;
/** A node sends a heartbeat each second; one that misses it for longer loses its place. */
const HEARTBEAT_TIMEOUT_MS = 10_000;
/** Shortest wait after an outage of PostgreSQL: a server that lost its connection is back in that time. */
const OUTAGE_WAIT_MS = 2_000;
/** Delay after a failed start: another node was faster, or PostgreSQL is unavailable. */
const RETRY_DELAY_MS = 500;

/**
 * Serves once no other node does. Undefined when it was stopped before.
 * @param onStatus reports what it waits for, when that changes
 */
export async function startWithFailover(
  settings: Settings & { readonly database: DatabaseSettings },
  onStatus: (line: string) => void,
  ending: AbortSignal,
  seams: Pick<Seams, 'onTaken'> = {},
): Promise<Tapedeck | undefined> {
  keepRequestsYoung();
  const { begin, node } = await openFront(settings);
  const hopKey = randomHex(32);
  const nodeId = newUuid();
  const table = new NodeTable(settings.database, nodeId, {
    name: new URL(node.doors.production).host,
    version: VERSION,
    doors: node.doors,
    hopKey,
    certificate: settings.tlsCert === '' ? '' : await readFile(settings.tlsCert, 'utf8'),
  });
  begin(table);
  const end = async (graceMs: number): Promise<undefined> => {
    node.drain();
    await node.close(graceMs);
    await table.close();
  };
  try {
    await table.start();
    let lessor: QuotaLessor | undefined;
    const audience = async (core: Core, throttle: Throttle): Promise<Followers> => {
      const opened = await createFollowers(core, throttle, () => table.unconfirmedMs);
      lessor = opened.lessor;
      return opened.audience;
    };
    const { metricsServer, servers } = node;
    const handover = { servers, metricsServer, hopKey, audience, fence: makeFence(table) };
    const beside = await startStandbyWork(settings, nodeId, node, onStatus);
    try {
      const start = (): Promise<Tapedeck> => startTapedeck(settings, seams, handover);
      const started = await waitForTurn(table, onStatus, ending, settings.role !== 'worker', start);
      // Otherwise it would lease to itself, and follow itself.
      await beside.close(started === undefined ? undefined : lessor);
      if (started === undefined) return await end(settings.drainMs);
      return await beginServing(started, table, node);
    } catch (error) {
      await beside.close();
      throw error;
    }
  } catch (error) {
    await end(0);
    throw error;
  }
}

/** Starts the work of a node while another one serves, besides forwarding. */
async function startStandbyWork(
  settings: Parameters<typeof startWithFailover>[0],
  nodeId: string,
  node: FrontNode,
  onStatus: (line: string) => void,
): Promise<{ readonly close: (lessor?: QuotaLessor) => Promise<void> }> {
  const onFault = (reason: unknown): void => onStatus(reasonOf(reason));
  const lending = await startRemoteProcesses(settings, node.serving, onFault);
  const { handOn, observe, serving } = node;
  const log = openLog(settings.logLevel);
  const reading = await startReading({
    settings,
    nodeId,
    serving,
    handOn,
    observe,
    log,
    copies: lending === undefined ? [] : [lending.cache],
  });
  if (reading !== undefined) node.reads(reading);
  const name = new URL(node.doors.production).host;
  const loading =
    reading && startLoadWorkers({ name, settings, serving, onFault, place: reading.place });
  return {
    close: async (lessor) => {
      await loading?.close();
      await Promise.all([lending?.close(), reading?.close(lessor)]);
    },
  };
}

async function waitForTurn(
  table: NodeTable,
  onStatus: (line: string) => void,
  ending: AbortSignal,
  mayServe: boolean,
  start: () => Promise<Tapedeck>,
): Promise<Tapedeck | undefined> {
  let lastStatus = '';
  const reportStatus = (why: string): void => {
    if (why !== lastStatus) onStatus(why);
    lastStatus = why;
  };
  const waitMs = OUTAGE_WAIT_MS * (1 + randomFraction() / 2);
  while (!ending.aborted) {
    const { lockState: hold, serving } = table;
    if (hold === 'free' && !mayServe)
      reportStatus('on standby: no node serves, and a worker never does');
    else if (hold === 'free' && table.sinceOutageMs < waitMs)
      reportStatus('on standby: PostgreSQL was unavailable, and the node that served may return');
    else if (hold === 'free') {
      const started = await start().catch((error: unknown) => {
        // Another waiting node was faster, PostgreSQL is unavailable, or the data folder is in use.
        if (error instanceof Failure && error.type === 'Busy') return reasonOf(error);
        throw error;
      });
      if (typeof started !== 'string') return started;
      reportStatus(started);
      await sleep(RETRY_DELAY_MS);
    } else if (hold !== 'held') reportStatus(hold.reason);
    else if (table.silentMs > HEARTBEAT_TIMEOUT_MS) {
      reportStatus(
        `${serving?.name} sent no heartbeat for ${HEARTBEAT_TIMEOUT_MS} ms: another node replaces it`,
      );
      await table.terminateSilent().catch((error: unknown) => reportStatus(reasonOf(error)));
      await sleep(RETRY_DELAY_MS);
    } else if (serving !== undefined)
      reportStatus(`on standby: ${serving.name} serves, and requests are forwarded to it`);
    else reportStatus('on standby: a server that is no node serves, or one is starting');
    await sleep(POLL_MS);
  }
  return undefined;
}

async function beginServing(
  started: Tapedeck,
  table: NodeTable,
  node: FrontNode,
): Promise<Tapedeck> {
  await table.markServing();
  node.leave();
  const close = async (): Promise<void> => {
    // Otherwise a request on a connection that is just being closed would be lost.
    started.drain();
    await table.announceLeave();
    await started.close();
    await table.close();
  };
  return { ...started, close };
}
