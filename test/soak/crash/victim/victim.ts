// The process that is killed: the real server on a given folder. It prints its base URL and tokens in one
// line, reads orders on stdin (`arm POINT N`, `live`, `close`), and ends when its driver ends.
// Arguments: the folder, and optionally a crash point and how often it passes before the kill.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { compactDataset } from '../../../../jobs/upkeep/compaction.ts';
import { rollJournal } from '../../../../jobs/upkeep/journalRoll.ts';
import { makeUpkeep } from '../../../../jobs/upkeep/upkeep.ts';
import { keepModules } from '../../../base/program.ts';
import { startServer } from '../../../base/server.ts';

const STDOUT = 1;
const ROLL_MS = 150;
const [folder = '', firstPoint = '', firstPasses = '0'] = process.argv.slice(2);
let armed = { point: firstPoint, passes: Number(firstPasses) };

function at(point: string): void {
  if (point !== armed.point) return;
  armed.passes -= 1;
  if (armed.passes >= 0) return;
  // Writes synchronously to the pipe: nothing of this process runs after the kill.
  writeSync(STDOUT, `killed ${point} ${Date.now()}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** The driver kills on purpose, and requires each job to finish in the end. */
const startsMax = 1_000;
const server = await startServer({ folder, seams: { at, startsMax } });
keepModules();
writeSync(STDOUT, `base ${server.base} ${server.publishable} ${server.secret}\n`);

// Rolls the journal to Parquet continuously, so that kills interrupt that too.
const { journal } = server.tapedeck.services;
let roll = Promise.resolve(0);
const rolling = setInterval(() => {
  roll = roll.then(() => rollJournal(journal)).catch(() => 0);
}, ROLL_MS);

/** Versions expire after moments, so that kills interrupt their end as well. */
const KEEP = { allMs: 150, hourlyMs: 300, dailyMs: 0 };
const LIVE_MS = 150;
const { services } = server.tapedeck;
let upkeep: NodeJS.Timeout | undefined;
let living = Promise.resolve();

function live(): void {
  const { expireVersions } = makeUpkeep({ ...services, keep: KEEP });
  const round = async (): Promise<void> => {
    for (const dataset of services.lake.directory.datasets('WS')) {
      await services.runner.inTurn('WS', dataset.dataset, async () => {
        await compactDataset(dataset, services.ingestion, 3);
      });
    }
    await expireVersions();
  };
  upkeep = setInterval(() => {
    living = living.then(round).catch(() => undefined);
  }, LIVE_MS);
}

const orders = createInterface({ input: process.stdin });
orders.on('line', (line) => {
  const [order = '', point = '', passes = '0'] = line.split(' ');
  if (order === 'arm') {
    armed = { point, passes: Number(passes) };
    writeSync(STDOUT, 'armed\n');
  }
  if (order === 'live') {
    live();
    writeSync(STDOUT, 'living\n');
  }
  if (order !== 'close') return;
  clearInterval(rolling);
  clearInterval(upkeep);
  void Promise.all([roll, living])
    .then(() => server.close())
    .then(() => process.exit(0));
});
orders.on('close', () => process.exit(1));
