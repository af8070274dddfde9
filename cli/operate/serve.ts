// `tapedeck serve`: starts, says what to try, and ends when it is told to.
import { startTapedeck, type Tapedeck } from '../../app/main.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { findJob } from '../../store/work/jobs.ts';
import type { Settings } from '../../store/base/settings.ts';
import { tellServer } from '../reach/folderAccess.ts';
import { stateOf } from '../data/ingest.ts';
import { progress } from '../print/progress.ts';

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** How often the state of a background job is looked at. */
const LOOK_MS = 250;

export async function serve(settings: Settings): Promise<void> {
  const started = monotonicMs();
  const tapedeck = await startTapedeck(settings);
  await tellServer(settings.data, { base: tapedeck.base });
  endOnSignal(tapedeck, settings.drainMs);
  for (const warning of tapedeck.warnings) process.stderr.write(`tapedeck: ${warning}\n`);
  say(`Tapedeck listens on ${tapedeck.base} after ${Math.round(monotonicMs() - started)} ms`);
  for (const { kind, text } of tapedeck.madeTokens) say(`  ${kind} token: ${text}`);
  await welcome(tapedeck, settings);
}

/** On a first start: waits for the small demo datasets, shows them, then the big one's progress. */
async function welcome(tapedeck: Tapedeck, settings: Settings): Promise<void> {
  const { demoJobs, madeTokens, services } = tapedeck;
  if (demoJobs.length === 0) return;
  for (const job of demoJobs.slice(0, -1)) await services.runner.ended(job);
  const made = madeTokens.find(({ kind }) => kind === 'publishable')?.text;
  const token = made ?? settings.publishableToken;
  const at = `${tapedeck.base}/v1`;
  say('Workspace DEMO is filled; try:');
  say(`  curl '${at}/time-series/STOCKS/MSFT?last=3&token=${token}'`);
  say(`  curl '${at}/data/DEMO/SP500?from=2008-09-15&to=2008-09-19&format=csv&token=${token}'`);
  say(`  curl '${at}/data/DEMO/US_EMPLOYMENT?last=2&filter=month,nonfarm&token=${token}'`);
  const big = demoJobs.at(-1);
  if (big !== undefined) await follow(tapedeck, big);
}

async function follow({ services }: Tapedeck, jobId: string): Promise<void> {
  const shown = progress('FLIGHTS', process.stdout, false);
  for (;;) {
    const job = await findJob(services.database, jobId);
    if (job === undefined || services.runner.isStopping()) break;
    shown.update(stateOf(job, services.runner.progressOf(jobId)));
    if (job.finished_ms !== null) {
      shown.end();
      const counts = `${job.records_ingested} records, ${job.records_duplicate} duplicates left out`;
      say(`DEMO.FLIGHTS: ${job.error ?? counts}`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  shown.end();
}

/** Whatever still runs after so long begins again at the next start. */
function endOnSignal(tapedeck: Tapedeck, drainMs: number): void {
  let ending = false;
  const end = (signal: string): void => {
    if (ending) return;
    ending = true;
    say(`${signal}: draining`);
    setTimeout(() => process.exit(0), drainMs).unref();
    void tapedeck.close().then(() => process.exit(0));
  };
  // A terminal that closes ends what it started; the drain is the same.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
}
