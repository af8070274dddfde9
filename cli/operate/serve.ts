// `tapedeck serve`: starts the server, prints examples, and stops on a signal.
import module from 'node:module';
import { resolve } from 'node:path';
import { startTapedeck, type Tapedeck } from '../../app/main.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { findJob } from '../../store/work/jobs.ts';
import type { ThreadPool } from '../../store/sqlite/writer.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { showFirstTokens } from './firstTokens.ts';
import { writeServerFile } from '../connect/folderAccess.ts';
import { fingerprintOf } from '../connect/serverEndpoint.ts';
import { toWorkState } from '../data/ingest.ts';
import { progress } from '../print/progress.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

/** Signals that stop the server; SIGHUP is sent when its terminal closes. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Polling interval of a background job. */
const POLL_MS = 250;

export async function serve(
  settings: Settings,
  terminal: Terminal,
  threads?: ThreadPool,
): Promise<void> {
  const print = printTo(terminal);
  const started = monotonicMs();
  let running: Tapedeck | undefined;
  const unwritten = (): number => running?.services.ledger.pendingCharges ?? 0;
  const tapedeck = await startServer(settings, print, threads, exitOnTakeover(terminal, unwritten));
  if (tapedeck === undefined) return;
  running = tapedeck;
  const { tlsCert } = settings;
  const tls = tlsCert === '' ? {} : { certificate: resolve(tlsCert) };
  const operator = fingerprintOf(tapedeck.services.adminToken);
  await writeServerFile(settings.data, { base: tapedeck.base, operator, ...tls });
  endOnSignal(tapedeck, settings.drainMs, print);
  for (const warning of tapedeck.warnings) terminal.stderr.write(`tapedeck: ${warning}\n`);
  print(`Tapedeck listens on ${tapedeck.base} after ${Math.round(monotonicMs() - started)} ms`);
  if (settings.console) print(`  console: ${tapedeck.base}/console`);
  showFirstTokens(tapedeck, terminal);
  // Flush now: a killed server can't flush at its end, and the next one would compile all modules again.
  module.flushCompileCache();
  await welcome(tapedeck, settings, terminal);
}

/** Starts the server; returns undefined if it was stopped as a standby. */
async function startServer(
  settings: Settings,
  print: (line: string) => void,
  threads: ThreadPool | undefined,
  onTaken: (error: Error) => void,
): Promise<Tapedeck | undefined> {
  const { database, drainMs, standby } = settings;
  const seams = { ...(threads === undefined ? {} : { threads }), onTaken };
  if (!standby || database === undefined) return startTapedeck(settings, seams);
  const ending = new AbortController();
  const end = (signal: string): void => {
    if (ending.signal.aborted) return;
    print(`${signal}: draining`);
    setTimeout(() => process.exit(0), drainMs).unref();
    ending.abort();
  };
  for (const signal of SIGNALS) process.on(signal, end);
  const { startWithFailover } = await import('../../app/nodes/failover.ts');
  const started = await startWithFailover({ ...settings, database }, print, ending.signal, {
    onTaken,
  });
  if (started !== undefined && ending.signal.aborted) await started.close();
  for (const signal of SIGNALS) process.off(signal, end);
  return ending.signal.aborted ? undefined : started;
}

/** On a first start, waits for the small demo datasets, prints examples, then follows the big one. */
async function welcome(tapedeck: Tapedeck, settings: Settings, terminal: Terminal): Promise<void> {
  const print = printTo(terminal);
  const { demoJobs, madeTokens, services } = tapedeck;
  if (demoJobs.length === 0) return;
  for (const job of demoJobs.slice(0, -1)) await services.runner.ended(job);
  const publishable = madeTokens.find(({ kind }) => kind === 'publishable')?.text;
  const token =
    terminal.stdout.isTTY === true ? (publishable ?? settings.publishableToken) : 'pk_…';
  const at = `${tapedeck.base}/v1`;
  print('Workspace DEMO is filled; try:');
  print(`  curl '${at}/time-series/STOCKS/MSFT?last=3&token=${token}'`);
  print(`  curl '${at}/data/DEMO/SP500?from=2008-09-15&to=2008-09-19&format=csv&token=${token}'`);
  print(`  curl '${at}/data/DEMO/US_EMPLOYMENT?last=2&filter=month,nonfarm&token=${token}'`);
  const big = demoJobs.at(-1);
  if (big !== undefined) await follow(tapedeck, big, terminal);
}

async function follow({ services }: Tapedeck, jobId: string, terminal: Terminal): Promise<void> {
  const bar = progress('FLIGHTS', terminal.stdout, false);
  for (;;) {
    const job = await findJob(services.database, jobId);
    if (job === undefined || services.runner.isStopping()) break;
    bar.update(toWorkState(job, services.runner.progressOf(jobId)));
    if (job.finished_ms !== null) {
      bar.end();
      const counts = `${job.records_ingested} records, ${job.records_duplicate} duplicates skipped`;
      printTo(terminal)(`DEMO.FLIGHTS: ${job.error ?? counts}`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  bar.end();
}

/** EX_TEMPFAIL: the supervisor starts it again, as a standby. */
const TAKEN_CODE = 75;

/** Exits when another node has taken over: its further writes would be rejected. */
const exitOnTakeover =
  ({ stderr }: Terminal, unwritten: () => number) =>
  (error: Error): void => {
    const charges = unwritten();
    const lost = charges === 0 ? '' : `; ${charges} delivered calls are not charged`;
    stderr.write(`tapedeck: ${reasonOf(error)}${lost}; this server stops, start it again\n`);
    process.exit(TAKEN_CODE);
  };

/** Stops on a signal: work that still runs after the drain period starts again at the next start. */
function endOnSignal(tapedeck: Tapedeck, drainMs: number, print: (line: string) => void): void {
  let ending = false;
  const end = (signal: string): void => {
    if (ending) return;
    ending = true;
    print(`${signal}: draining`);
    setTimeout(() => process.exit(0), drainMs).unref();
    void tapedeck.close().then(() => process.exit(0));
  };
  for (const signal of SIGNALS) process.on(signal, end);
}
