// `tapedeck serve`: starts, says what to try, and ends when it is told to.
import module from 'node:module';
import { resolve } from 'node:path';
import { startTapedeck, type Tapedeck } from '../../app/main.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { findJob } from '../../store/work/jobs.ts';
import type { Threads } from '../../store/sqlite/writer.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { showFirstTokens } from './firstTokens.ts';
import { tellServer } from '../reach/folderAccess.ts';
import { fingerprintOf } from '../reach/serverDoor.ts';
import { stateOf } from '../data/ingest.ts';
import { progress } from '../print/progress.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

/** A terminal that closes ends what it started; the drain is the same. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** How often the state of a background job is looked at. */
const LOOK_MS = 250;

export async function serve(
  settings: Settings,
  terminal: Terminal,
  threads?: Threads,
): Promise<void> {
  const say = sayTo(terminal);
  const started = monotonicMs();
  let running: Tapedeck | undefined;
  const unwritten = (): number => running?.services.ledger.waiting ?? 0;
  const tapedeck = await startedBy(settings, say, threads, endTaken(terminal, unwritten));
  if (tapedeck === undefined) return;
  running = tapedeck;
  const { tlsCert } = settings;
  const shown = tlsCert === '' ? {} : { certificate: resolve(tlsCert) };
  const operator = fingerprintOf(tapedeck.services.adminToken);
  await tellServer(settings.data, { base: tapedeck.base, operator, ...shown });
  endOnSignal(tapedeck, settings.drainMs, say);
  for (const warning of tapedeck.warnings) terminal.stderr.write(`tapedeck: ${warning}\n`);
  say(`Tapedeck listens on ${tapedeck.base} after ${Math.round(monotonicMs() - started)} ms`);
  if (settings.console) say(`  console: ${tapedeck.base}/console`);
  showFirstTokens(tapedeck, terminal);
  // A server that is killed does not come to it at its end, and the next one would read them anew.
  module.flushCompileCache();
  await welcome(tapedeck, settings, terminal);
}

/** Undefined where it was told to end before it was its turn. */
async function startedBy(
  settings: Settings,
  say: (line: string) => void,
  threads: Threads | undefined,
  onTaken: (error: Error) => void,
): Promise<Tapedeck | undefined> {
  const { database, drainMs, standby } = settings;
  const seams = { ...(threads === undefined ? {} : { threads }), onTaken };
  if (!standby || database === undefined) return startTapedeck(settings, seams);
  const ending = new AbortController();
  const end = (signal: string): void => {
    if (ending.signal.aborted) return;
    say(`${signal}: draining`);
    setTimeout(() => process.exit(0), drainMs).unref();
    ending.abort();
  };
  for (const signal of SIGNALS) process.on(signal, end);
  const { startInTurn } = await import('../../app/nodes/inTurn.ts');
  const started = await startInTurn({ ...settings, database }, say, ending.signal, { onTaken });
  if (started !== undefined && ending.signal.aborted) await started.close();
  for (const signal of SIGNALS) process.off(signal, end);
  return ending.signal.aborted ? undefined : started;
}

/** On a first start: waits for the small demo datasets, shows them, then the big one's progress. */
async function welcome(tapedeck: Tapedeck, settings: Settings, terminal: Terminal): Promise<void> {
  const say = sayTo(terminal);
  const { demoJobs, madeTokens, services } = tapedeck;
  if (demoJobs.length === 0) return;
  for (const job of demoJobs.slice(0, -1)) await services.runner.ended(job);
  const made = madeTokens.find(({ kind }) => kind === 'publishable')?.text;
  const token = terminal.stdout.isTTY === true ? (made ?? settings.publishableToken) : 'pk_…';
  const at = `${tapedeck.base}/v1`;
  say('Workspace DEMO is filled; try:');
  say(`  curl '${at}/time-series/STOCKS/MSFT?last=3&token=${token}'`);
  say(`  curl '${at}/data/DEMO/SP500?from=2008-09-15&to=2008-09-19&format=csv&token=${token}'`);
  say(`  curl '${at}/data/DEMO/US_EMPLOYMENT?last=2&filter=month,nonfarm&token=${token}'`);
  const big = demoJobs.at(-1);
  if (big !== undefined) await follow(tapedeck, big, terminal);
}

async function follow({ services }: Tapedeck, jobId: string, terminal: Terminal): Promise<void> {
  const shown = progress('FLIGHTS', terminal.stdout, false);
  for (;;) {
    const job = await findJob(services.database, jobId);
    if (job === undefined || services.runner.isStopping()) break;
    shown.update(stateOf(job, services.runner.progressOf(jobId)));
    if (job.finished_ms !== null) {
      shown.end();
      const counts = `${job.records_ingested} records, ${job.records_duplicate} duplicates left out`;
      sayTo(terminal)(`DEMO.FLIGHTS: ${job.error ?? counts}`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  shown.end();
}

/** EX_TEMPFAIL: whoever watches over it starts it again, and then it stands by. */
const TAKEN_CODE = 75;

/** What it had is another's: nothing that it still does would count. */
const endTaken =
  ({ stderr }: Terminal, unwritten: () => number) =>
  (error: Error): void => {
    const charges = unwritten();
    const lost = charges === 0 ? '' : `; ${charges} delivered calls are not charged`;
    stderr.write(`tapedeck: ${reasonOf(error)}${lost}; this server ends, start it again\n`);
    process.exit(TAKEN_CODE);
  };

/** A server is a process: whatever still runs after so long begins again at the next start. */
function endOnSignal(tapedeck: Tapedeck, drainMs: number, say: (line: string) => void): void {
  let ending = false;
  const end = (signal: string): void => {
    if (ending) return;
    ending = true;
    say(`${signal}: draining`);
    setTimeout(() => process.exit(0), drainMs).unref();
    void tapedeck.close().then(() => process.exit(0));
  };
  for (const signal of SIGNALS) process.on(signal, end);
}
