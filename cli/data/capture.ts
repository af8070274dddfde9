// `tapedeck capture`: summarizes a recorded feed, and loads its ticks and bars into CORE.
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  CAPTURE_INPUTS,
  CaptureRecords,
  HEADERS,
  tradeKey,
} from '../../market/capture/captureRecords.ts';
import { type CaptureSummary, readCapture } from '../../market/capture/capture.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { followJob } from '../print/followJob.ts';
import { checkInputFile } from '../connect/inputFile.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { withWorkspace } from '../connect/workspaceApi.ts';

export interface CaptureOptions {
  readonly json?: boolean;
}

export async function showCapture(
  file: string,
  { json }: CaptureOptions,
  terminal: Terminal,
): Promise<void> {
  const path = resolve(terminal.folder, file);
  await checkInputFile(path, file);
  const summary = await readCapture(path, () => undefined);
  const print = printTo(terminal);
  if (json === true) print(JSON.stringify(summary));
  else for (const line of formatSummary(summary)) print(line);
  if (summary.packets === 0) terminal.endWith(1);
}

const NAMES: Readonly<Record<string, string>> = {
  Q: 'quotes',
  T: 'trades',
  B: 'trade breaks',
  8: 'buy levels',
  5: 'sell levels',
  S: 'system events',
  D: 'directory',
  H: 'trading status',
  O: 'halts',
  P: 'short sale',
  E: 'security events',
  X: 'official prices',
  A: 'auctions',
  I: 'retail liquidity',
};

const timeOf = (ms: number | undefined): string =>
  ms === undefined ? 'never' : new Date(ms).toISOString();

function formatSummary(summary: CaptureSummary): readonly string[] {
  const { damaged, damagedMessages, missing, others, repeated, resets } = summary;
  const typeLines = Object.entries(summary.types)
    .sort(([, one], [, other]) => other - one)
    .map(([type, count]) => `  ${String(count).padStart(9)}  ${NAMES[type] ?? `type ${type}`}`);
  const counts = { missing, repeated, resets, damaged, others, damagedMessages };
  const faults = Object.entries(counts).filter(([, count]) => count > 0);
  return [
    `${summary.protocols.join(', ') || 'no known protocol'}: ${summary.messages} messages of ${
      summary.symbols
    } symbols in ${summary.packets} packets`,
    `from ${timeOf(summary.firstMs)} to ${timeOf(summary.lastMs)}`,
    ...typeLines,
    ...faults.map(([name, count]) => `${FAULTS[name] ?? name}: ${count}`),
    ...(summary.cut === undefined ? [] : [`cut: ${summary.cut}`]),
  ];
}

const FAULTS: Readonly<Record<string, string>> = {
  missing: 'messages never received',
  repeated: 'messages received twice, counted once',
  resets: 'restarts of the stream',
  damaged: 'damaged packets',
  others: 'packets of other kinds',
  damagedMessages: 'damaged segments and messages',
};

/** Loads the ticks and bars of a file into the inputs of CORE, each by a job of its own. */
export async function importCapture(
  file: string,
  options: CaptureOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const path = resolve(terminal.folder, file);
  await checkInputFile(path, file);
  const broken = new Set<string>();
  const summary = await readCapture(path, (tick) => {
    if (tick.kind === 'break') broken.add(tradeKey(tick));
  });
  const print = printTo(terminal);
  if (options.json !== true) for (const line of formatSummary(summary)) print(line);
  if (summary.messages === 0) throw new Failure('InvalidBody', `${file} has no messages`);
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-capture-'));
  try {
    const written = await writeRecords(path, broken, folder);
    await withWorkspace(settings, CORE, terminal, async (call, _, callData) => {
      // Submit all jobs before waiting for one: the server loads as many concurrently as it can.
      const jobs = new Map<string, string>();
      for (const input of CAPTURE_INPUTS) {
        if (!written.has(input)) continue;
        const where = `/data/${CORE}/${input}?duplicateKeyHandling=ignore`;
        const body = createReadStream(join(folder, input));
        const answer = await callData({ method: 'POST', path: where, body });
        const { jobId } = JSON.parse(await text(answer.body)) as { readonly jobId: string };
        jobs.set(input, jobId);
      }
      for (const [input, jobId] of jobs) await followJob(call, jobId, input, options, terminal);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a file for each input that has records, and returns those inputs. */
async function writeRecords(
  path: string,
  broken: ReadonlySet<string>,
  folder: string,
): Promise<ReadonlySet<string>> {
  const files = new Map<string, WriteStream>();
  const records = new CaptureRecords(broken, (input, line) => {
    let file = files.get(input);
    if (file === undefined) {
      file = createWriteStream(join(folder, input));
      file.write(HEADERS[input]);
      files.set(input, file);
    }
    file.write(line);
  });
  const drained = async (): Promise<void> => {
    for (const file of files.values()) if (file.writableNeedDrain) await once(file, 'drain');
  };
  await readCapture(path, (tick, place) => records.add(tick, place), drained);
  records.end();
  for (const file of files.values()) {
    file.end();
    await once(file, 'close');
  }
  return new Set(files.keys());
}
