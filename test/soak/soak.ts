// npm run soak [-- suite [count]]: runs the full counts in parts, so that a stopped run can be resumed.
// A finished suite is a line of docs/contributing/evidence.md. `SEED=…` sets the first seed.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOAK_SUITES, type SoakSuite } from './soakSuites.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const EVIDENCE = join(ROOT, 'docs', 'contributing', 'evidence.md');
const HEADING = `# Evidence

Full counts of \`npm run soak\`. Part n of a suite ran with the seed + n; failures are counted and
their texts were printed.

| suite | seed | count | failures | duration | commit | date (UTC) |
|---|---|---|---|---|---|---|
`;

/** Progress of a suite, at one commit. */
interface Progress {
  readonly seed: number;
  readonly count: number;
  readonly commit: string;
  readonly done: number;
  readonly parts: number;
  readonly failures: number;
  readonly ms: number;
}

let stopping = false;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const progressFile = (name: string): string => join(tmpdir(), `tapedeck-soak-${name}.json`);

/** The commit that runs, marked if the tree has changes. */
function commitOf(): string {
  const git = (...words: readonly string[]): string =>
    execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
  // The evidence itself is written by the run.
  const rest = ['--', '.', ':!docs/contributing/evidence.md'];
  const changed = git('status', '--porcelain', '--untracked-files=no', ...rest) !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${changed ? '+changes' : ''}`;
}

/** Progress of an earlier run of the same code, or a new start. */
function begun(suite: SoakSuite, count: number): Progress {
  const commit = commitOf();
  const path = progressFile(suite.name);
  if (existsSync(path)) {
    const progress = JSON.parse(readFileSync(path, 'utf8')) as Progress;
    if (progress.commit === commit && progress.count === count && progress.done < count)
      return progress;
  }
  const seedText = process.env['SEED'];
  const seed = seedText === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedText);
  return { seed, count, commit, done: 0, parts: 0, failures: 0, ms: 0 };
}

async function runPart(suite: SoakSuite, progress: Progress): Promise<Progress> {
  const count = Math.min(suite.partCount, progress.count - progress.done);
  const seed = progress.seed + progress.parts;
  const startedMs = performance.now();
  const report = await suite.run({ count, seed, log: () => undefined });
  for (const failure of report.failures) say(`  ✖ ${failure}`);
  const next = {
    ...progress,
    done: progress.done + count,
    parts: progress.parts + 1,
    failures: progress.failures + report.failures.length,
    ms: progress.ms + performance.now() - startedMs,
  };
  const notes = report.notes.join('; ');
  say(
    `${suite.name} ${next.done}/${next.count}, ${next.failures} failures · seed ${seed}: ${notes}`,
  );
  writeFileSync(progressFile(suite.name), JSON.stringify(next));
  return next;
}

async function soak(suite: SoakSuite, count: number): Promise<number> {
  let progress = begun(suite, count);
  const from = progress.done === 0 ? '' : `, resuming after ${progress.done}`;
  say(`${suite.name}: ${count} from seed ${progress.seed} at ${progress.commit}${from}`);
  while (progress.done < count) {
    // Between two parts there is nothing to clean up.
    if (stopping) process.exit(130);
    progress = await runPart(suite, progress);
  }
  record(suite, progress);
  rmSync(progressFile(suite.name), { force: true });
  return progress.failures;
}

function record(suite: SoakSuite, { seed, count, failures, ms, commit }: Progress): void {
  if (!existsSync(EVIDENCE)) writeFileSync(EVIDENCE, HEADING);
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ');
  const minutes = `${(ms / 60_000).toFixed(1)} min`;
  const cells = [suite.name, seed, count, failures, minutes, commit, date];
  appendFileSync(EVIDENCE, `| ${cells.join(' | ')} |\n`);
}

const [suiteName, givenCount] = process.argv.slice(2);
const suites = SOAK_SUITES.filter(({ name }) => suiteName === undefined || name === suiteName);
if (suites.length === 0) {
  say(`no suite ${suiteName}; there are ${SOAK_SUITES.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
if (givenCount !== undefined && !/^[1-9]\d{0,6}$/.test(givenCount)) {
  say('the count must be a whole number from 1');
  process.exit(2);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stopping = true;
    say('stopping after this part; run the same command to resume');
  });
}
let failures = 0;
for (const suite of suites) failures += await soak(suite, Number(givenCount ?? suite.fullCount));
process.exit(failures === 0 ? 0 : 1);
