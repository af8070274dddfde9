// Draws charts of records in worker threads.
import { Failure } from '../../store/base/failure.ts';
import { type Body, bodyLength } from '../../store/duckdb/protocol.ts';
import type { Workers } from '../../workers/workerPool.ts';
import type { WorkerTask } from '../../workers/workerTask.ts';
import type { Drawing, DrawingTask, DrawingOptions } from './drawing.ts';

/** Most bytes of records, as JSON, of one chart: parsed they need ten times that. */
export const RECORD_BYTES_MAX = 4 * 1024 ** 2;

const CHART_TASK: WorkerTask<DrawingTask, Drawing> = {
  file: new URL('./chartTask.ts', import.meta.url),
  name: 'chart',
  // Half a million values take 1 s on a busy machine.
  deadlineMs: 10_000,
  waitingMax: { account: 16, all: 64 },
  isLong: false,
};

/** The parameter that a refusal names. */
const PARAMETERS = { column: 'chartColumn', kind: 'chartKind', records: 'format' } as const;

/**
 * @throws Failure InvalidParameter, naming `format`, `chartColumn` or `chartKind`, for records that make no
 * such chart or are too many; Busy; TimedOut
 */
export async function drawChart(
  workers: Workers,
  account: string,
  options: DrawingOptions,
  body: Body,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (bodyLength(body) > RECORD_BYTES_MAX) {
    const most = `at most ${RECORD_BYTES_MAX} bytes of records`;
    const rule = `${options.format} draws ${most}: request fewer, or two of their attributes`;
    throw new Failure('InvalidParameter', `"format" ${rule}`);
  }
  // Copied: a part of a cached page would be sent with the whole page.
  const records = body.file === undefined ? new Uint8Array(body.bytes) : body.file.path;
  const transfer = typeof records === 'string' ? [] : [records.buffer];
  const call = { account, input: { options, records }, signal, transfer };
  const drawing = await workers.run(CHART_TASK, call);
  if (drawing.kind === 'picture') return drawing.bytes;
  throw new Failure('InvalidParameter', `"${PARAMETERS[drawing.about]}" ${drawing.rule}`);
}
