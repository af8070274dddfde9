// A node of several that share a catalog: while another one serves, it hands on what it is asked; once none
// does, it takes its place.
import { setTimeout as sleep } from 'node:timers/promises';
import { readFile } from 'node:fs/promises';
import { VERSION } from '../../store/base/version.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { newUuid, randomHex, randomShare } from '../../store/base/random.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { NodeTable } from '../../store/postgres/nodeTable.ts';
import type { DatabaseSettings } from '../../store/base/settings/databaseSettings.ts';
import type { Throttle } from '../../api/request/throttle.ts';
import type { QuotaLessor } from '../../store/ledger/leases/lessor.ts';
import type { Audience } from '../../store/replica/audience.ts';
import type { Core, Seams } from '../core.ts';
import { type FrontNode, openFront } from './frontNode.ts';
import { openLog } from '../../api/http/logging.ts';
import { audienceOf } from './audienceOf.ts';
import { makeFence } from './fence.ts';
import { startLending } from './lending.ts';
import { startLoading } from './loading.ts';
import { startReading } from './reading.ts';
import { startTapedeck, type Tapedeck } from '../main.ts';
import { keepRequestsYoung } from '../v8Flags.ts';

const LOOK_MS = 50;
/** A node tells of itself each second, whatever it does; one that sleeps for longer loses its place. */
const SILENT_MS = 10_000;
/** After an outage of PostgreSQL, at least: a server that lost its connection is back in that time. */
const OUTAGE_WAIT_MS = 2_000;
/** After a start that failed since another node was faster, or PostgreSQL went. */
const AGAIN_MS = 500;

/**
 * Serves once no other node does. Undefined when it was told to end before.
 * @param tell what it waits for, when that changes
 */
export async function startInTurn(
  settings: Settings & { readonly database: DatabaseSettings },
  tell: (line: string) => void,
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
    const audience = async (core: Core, throttle: Throttle): Promise<Audience> => {
      const made = await audienceOf(core, throttle, () => table.unsureMs);
      lessor = made.lessor;
      return made.audience;
    };
    const { metricsServer, servers } = node;
    const taken = { servers, metricsServer, hopKey, audience, fence: makeFence(table) };
    const beside = await startBeside(settings, nodeId, node, tell);
    try {
      const start = (): Promise<Tapedeck> => startTapedeck(settings, seams, taken);
      const started = await inTurn(table, tell, ending, settings.role !== 'worker', start);
      // It would lend to itself, and follow itself.
      await beside.close(started === undefined ? undefined : lessor);
      if (started === undefined) return await end(settings.drainMs);
      return await serving(started, table, node);
    } catch (error) {
      await beside.close();
      throw error;
    }
  } catch (error) {
    await end(0);
    throw error;
  }
}

/** What it does while another one serves, beside handing on. */
async function startBeside(
  settings: Parameters<typeof startInTurn>[0],
  nodeId: string,
  node: FrontNode,
  tell: (line: string) => void,
): Promise<{ readonly close: (lessor?: QuotaLessor) => Promise<void> }> {
  const lending = await startLending(settings, node.serving, (reason) => tell(reasonOf(reason)));
  const { handOn, observe, serving } = node;
  const log = openLog(settings.logLevel);
  const reading = await startReading({
    settings,
    nodeId,
    serving,
    handOn,
    observe,
    log,
    copies: lending === undefined ? [] : [lending.gone],
  });
  if (reading !== undefined) node.reads(reading);
  const name = new URL(node.doors.production).host;
  const loading = reading && startLoading({ name, settings, serving, place: reading.place });
  return {
    close: async (lessor) => {
      await loading?.close();
      await Promise.all([lending?.close(), reading?.close(lessor)]);
    },
  };
}

async function inTurn(
  table: NodeTable,
  tell: (line: string) => void,
  ending: AbortSignal,
  mayServe: boolean,
  start: () => Promise<Tapedeck>,
): Promise<Tapedeck | undefined> {
  let told = '';
  const say = (why: string): void => {
    if (why !== told) tell(why);
    told = why;
  };
  const waitMs = OUTAGE_WAIT_MS * (1 + randomShare() / 2);
  while (!ending.aborted) {
    const { held, serving } = table;
    if (held === 'free' && !mayServe) say('stands by: no node serves, and a worker never does');
    else if (held === 'free' && table.backMs < waitMs)
      say('stands by: PostgreSQL was away, and whoever served may be back');
    else if (held === 'free') {
      const started = await start().catch((error: unknown) => {
        // Another one that waited was faster, PostgreSQL went, or the data folder is in use.
        if (error instanceof Failure && error.type === 'Busy') return reasonOf(error);
        throw error;
      });
      if (typeof started !== 'string') return started;
      say(started);
      await sleep(AGAIN_MS);
    } else if (held !== 'held') say(held.reason);
    else if (table.silentMs > SILENT_MS) {
      say(`${serving?.name} was not heard for ${SILENT_MS} ms: another node takes its place`);
      await table.endSilent().catch((error: unknown) => say(reasonOf(error)));
      await sleep(AGAIN_MS);
    } else if (serving !== undefined)
      say(`stands by: ${serving.name} serves, and is handed what comes here`);
    else say('stands by: a server that is no node serves, or one begins');
    await sleep(LOOK_MS);
  }
  return undefined;
}

async function serving(started: Tapedeck, table: NodeTable, node: FrontNode): Promise<Tapedeck> {
  await table.serves();
  node.leave();
  const close = async (): Promise<void> => {
    // A request that is on its way on a connection as that is closed would be lost.
    started.drain();
    await table.leaves();
    await started.close();
    await table.close();
  };
  return { ...started, close };
}
