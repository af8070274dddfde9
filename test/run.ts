// npm test: every test file in a process of its own, a line for each, failures in full. The last
// line is `N passed, N failed` (`, N skipped`): the continuous integration reads it.
// Arguments are parts of file names: `npm test -- house store/lake`.
import { globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';

const ROOT = join(import.meta.dirname, '..');

// The targets are stated for two cores, and a file may start a server and children by itself.
const FILES_AT_ONCE = 2;
// Far above the slowest file: what takes longer hangs, or has left something open.
const FILE_TIMEOUT_MS = 300_000;
// node:sqlite still announces itself on stderr.
const NODE_OPTIONS = ['--disable-warning=ExperimentalWarning'];

interface Failed {
  readonly name: string;
  readonly reason: string;
}

/** What is known of one file; tests that only failed through their sub-tests are not counted. */
interface Report {
  readonly file: string;
  passed: number;
  readonly failed: Failed[];
  readonly skipped: string[];
  /** What the tests wrote: seeds, notes, warnings. */
  readonly output: string[];
  /** Tests that have begun and not ended. */
  readonly running: Set<string>;
}

/** The events of node:test that end a test; `skip` is true or the reason. */
interface Ended {
  readonly name: string;
  readonly nesting: number;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details: { readonly type?: string; readonly error?: Error };
}

function testFiles(fragments: readonly string[]): readonly string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT });
  const asked = (file: string): boolean => fragments.some((part) => file.includes(part));
  return files
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
    .filter((file) => fragments.length === 0 || asked(file));
}

async function runAll(files: readonly string[]): Promise<readonly Report[]> {
  const waiting = [...files];
  const done: Report[] = [];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const startedMs = performance.now();
      const report = await runFile(file);
      print(report, performance.now() - startedMs);
      done.push(report);
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, work));
  return done;
}

// One `run` for each file, because only its signal ends the process of a file: the option
// `timeout` fails the test and then waits for the process for ever.
async function runFile(file: string): Promise<Report> {
  const report: Report = {
    file,
    passed: 0,
    failed: [],
    skipped: [],
    output: [],
    running: new Set(),
  };
  const giveUp = new AbortController();
  const timer = setTimeout(() => {
    giveUp.abort();
  }, FILE_TIMEOUT_MS);
  const files = [join(ROOT, file)];
  const options = { files, cwd: ROOT, isolation: 'process', execArgv: NODE_OPTIONS } as const;
  const events = run({ ...options, signal: giveUp.signal });
  follow(events, report);
  for await (const _ of events);
  clearTimeout(timer);
  return report;
}

function follow(events: ReturnType<typeof run>, report: Report): void {
  const names: string[] = [];
  events.on('test:start', ({ nesting, name }) => {
    names[nesting] = name;
  });
  events.on('test:dequeue', ({ name }) => {
    report.running.add(name);
  });
  events.on('test:complete', ({ name }) => {
    report.running.delete(name);
  });
  events.on('test:pass', (test) => {
    passed(test, titleOf(test, names), report);
  });
  events.on('test:fail', (test) => {
    failed(test, titleOf(test, names), report);
  });
  events.on('test:stdout', ({ message }) => {
    report.output.push(message);
  });
  events.on('test:stderr', ({ message }) => {
    report.output.push(message);
  });
  events.on('test:diagnostic', ({ file, message }) => {
    // Without a file it is a line of the totals, which we count ourselves.
    if (file !== undefined) report.output.push(`${message}\n`);
  });
}

/** `suite > test > sub-test`. */
const titleOf = (test: Ended, names: readonly string[]): string =>
  [...names.slice(0, test.nesting), test.name].join(' > ');

const isWholeFile = (test: Ended, report: Report): boolean =>
  test.nesting === 0 && test.name === join(ROOT, report.file);

function passed(test: Ended, title: string, report: Report): void {
  const why = isSet(test.skip) ?? isSet(test.todo);
  if (why !== undefined) report.skipped.push(why === true ? title : `${title} (${why})`);
  else if (isWholeFile(test, report)) {
    report.failed.push({ name: report.file, reason: 'The file has no tests.' });
  } else if (test.details.type !== 'suite') report.passed += 1;
}

function failed(test: Ended, title: string, report: Report): void {
  const { error } = test.details;
  const type = error !== undefined && 'failureType' in error ? error.failureType : undefined;
  if (type === 'subtestsFailed') return;
  if (isSet(test.todo) !== undefined) report.skipped.push(title);
  else if (!isWholeFile(test, report)) report.failed.push({ name: title, reason: reasonOf(error) });
  else {
    const reason =
      type === 'testAborted'
        ? givenUp(report)
        : 'Its process failed outside of a test; the output is above.';
    report.failed.push({ name: report.file, reason });
  }
}

function givenUp({ file, running }: Report): string {
  running.delete(join(ROOT, file));
  const blamed =
    running.size === 0
      ? 'a test is in an endless loop, or has left a server, a child or a timer open'
      : `still running: ${[...running].join(', ')}`;
  return `Given up after ${FILE_TIMEOUT_MS / 1000} s; ${blamed}.`;
}

const isSet = (mark: string | boolean | undefined): string | true | undefined =>
  mark === false ? undefined : mark === '' ? true : mark;

/** Message and our own stack lines of what was thrown, unwrapped, and of its causes. */
function reasonOf(error: Error | undefined): string {
  const thrown: unknown =
    error !== undefined && 'failureType' in error ? (error.cause ?? error) : error;
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : inspect(thrown);
  const lines = (thrown.stack ?? String(thrown)).split('\n');
  const own = lines.filter((line) => !/^\s+at .*(node:|node_modules)/.test(line)).join('\n');
  const cause = thrown.cause;
  return cause instanceof Error ? `${own}\ncaused by ${reasonOf(cause)}` : own;
}

function print(report: Report, durationMs: number): void {
  const { file, output, skipped } = report;
  const seconds = (durationMs / 1000).toFixed(1);
  const mark = report.failed.length === 0 ? '✔' : '✖';
  say(`${mark} ${file}  ${countsOf([report])}  ${seconds} s`);
  if (output.length > 0) say(indent(output.join('').trimEnd(), 4));
  for (const title of skipped) say(`  - skipped: ${title}`);
  for (const { name, reason } of report.failed) say(`  ✖ ${name}\n${indent(reason, 6)}`);
}

/** Answers the exit code. */
function summarise(done: readonly Report[]): 0 | 1 {
  const failures = done.flatMap(({ file, failed }) => failed.map(({ name }) => `${file}  ${name}`));
  const tests = done.reduce((sum, { passed }) => sum + passed, failures.length);
  say('');
  for (const failure of failures) say(`✖ ${failure}`);
  if (tests === 0) say('No test ran.');
  say(`${done.length} files, ${(performance.now() / 1000).toFixed(1)} s`);
  say(countsOf(done));
  return tests === 0 || failures.length > 0 ? 1 : 0;
}

function countsOf(some: readonly Report[]): string {
  const sum = (count: (report: Report) => number): number =>
    some.reduce((total, report) => total + count(report), 0);
  const skips = sum(({ skipped }) => skipped.length);
  return (
    `${sum((report) => report.passed)} passed, ${sum((report) => report.failed.length)} failed` +
    (skips === 0 ? '' : `, ${skips} skipped`)
  );
}

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const indent = (text: string, columns: number): string =>
  text.replace(/^(?=.)/gm, ' '.repeat(columns));

// A hundred processes and the servers they start read the same modules: reading them anew took each
// of them 1.5 s.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'tapedeck-test-modules');
const reports = await runAll(testFiles(process.argv.slice(2)));
// Not `exitCode`: a file that was given up may have left its process behind.
process.exit(summarise(reports));
