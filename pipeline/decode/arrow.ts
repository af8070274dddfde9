// Arrow files and streams: DuckDB can not read them by itself, so a worker writes their batches as JSON
// lines, one batch in memory at a time, and the types are those of the Arrow schema.
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { checkPropertyNames, type PropertyType } from '../../store/lake/versions/columns.ts';
import { Failure, toldFull } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Relation } from '../values/relation.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** Memory of the worker beside the batch that it reads, in MiB. */
const HEAP_MIB = 512;

export interface ArrowTask {
  readonly from: string;
  readonly to: string;
  readonly isFile: boolean;
}

/** What the worker answers: the columns, or why there are none. */
export type ArrowAnswer =
  | {
      readonly kind: 'columns';
      readonly columns: readonly { readonly name: string; readonly property: PropertyType }[];
    }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'full'; readonly code: string };

/** @throws Failure InvalidBody for a damaged file, or one with what records can not hold. */
export async function arrowRelation(
  from: string,
  isFile: boolean,
  { folder, signal }: Workbench,
): Promise<Relation> {
  const path = join(folder, newUuid());
  const answer = await convert({ from, to: path, isFile }, signal);
  if (answer.kind === 'full') throw toldFull(Object.assign(new Error(answer.code), answer));
  if (answer.kind === 'refused') throw new Failure('InvalidBody', answer.reason);
  const names = answer.columns.map(({ name }) => name);
  checkPropertyNames('the file', names);
  const columns = answer.columns.map(({ name, property }) => ({
    name,
    inferred: { property, spelling: undefined, numeric: undefined },
  }));
  return { kind: 'json', path, framing: 'lines', jsonPath: '$[*]', columns };
}

function convert(task: ArrowTask, signal: AbortSignal | undefined): Promise<ArrowAnswer> {
  const worker = new Worker(new URL('./arrowWorker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener('abort', stop, { once: true });
  return new Promise<ArrowAnswer>((resolve) => {
    const damaged = (why: string): void =>
      resolve({ kind: 'refused', reason: `the body is not readable Arrow: ${why}` });
    worker.once('message', resolve);
    worker.once('error', (error) => damaged(error instanceof Error ? error.message : 'damaged'));
    worker.once('exit', () => damaged('its reader ended'));
  }).finally(() => {
    signal?.removeEventListener('abort', stop);
    return worker.terminate();
  });
}
