// A child process that decodes untrusted bytes, one task at a time. It has no settings and no secrets;
// its parent may kill it at any moment, and a file that crashes it costs one load.
import {
  Failure,
  type FailureType,
  isDiskFull,
  reasonOf,
  toDiskFullFailure,
} from '../../../store/base/failure.ts';
import { endWithParent, sendToParent } from '../../../store/base/parentProcess.ts';
import { type Packing, unpack } from '../../bytes/unpack.ts';
import type { ArrowColumn, ArrowTask } from '../arrow/arrowLines.ts';
import { type JsonAnswer, type JsonTask, writeJsonLines } from '../json/jsonLines.ts';
import {
  type FooterTask,
  readSchema,
  type SchemaNode,
  type TimesTask,
  writeTimes,
} from '../pages/parquetFooter.ts';
import { checkPages, type PagesTask } from '../pages/parquetPages.ts';
import { NoDataFailure, UNDECODABLE } from '../../bytes/noData.ts';

interface UnpackTask {
  readonly kind: 'unpack';
  readonly packing: Packing;
  readonly from: string;
  readonly to: string;
}

export type DecodeTask = ArrowTask | FooterTask | JsonTask | PagesTask | TimesTask | UnpackTask;

export type DecodeAnswer =
  | { readonly kind: 'columns'; readonly columns: readonly ArrowColumn[] }
  | { readonly kind: 'json'; readonly answer: JsonAnswer }
  | { readonly kind: 'schema'; readonly schema: readonly SchemaNode[] }
  | { readonly kind: 'unpacked' }
  | { readonly kind: 'checked' }
  | { readonly kind: 'copied' }
  /** The body is not data. */
  | { readonly kind: 'none'; readonly what: string }
  | { readonly kind: 'failed'; readonly type: FailureType; readonly reason: string };

async function decode(task: DecodeTask): Promise<DecodeAnswer> {
  if (task.kind === 'unpack') {
    await unpack(task.packing, task.from, task.to);
    return { kind: 'unpacked' };
  }
  if (task.kind === 'pages') {
    await checkPages(task);
    return { kind: 'checked' };
  }
  if (task.kind === 'footer') return { kind: 'schema', schema: await readSchema(task.from) };
  if (task.kind === 'times') {
    await writeTimes(task);
    return { kind: 'copied' };
  }
  if (task.kind === 'json') return { kind: 'json', answer: await writeJsonLines(task) };
  // Imported on demand: it takes 0.1 s.
  const { explainArrow, writeArrowLines } = await import('../arrow/arrowLines.ts');
  try {
    return { kind: 'columns', columns: await writeArrowLines(task) };
  } catch (error) {
    if (isDiskFull(error)) throw toDiskFullFailure(error);
    throw new Failure('InvalidBody', explainArrow(error));
  }
}

function explain(error: unknown): DecodeAnswer {
  if (error instanceof NoDataFailure) return { kind: 'none', what: error.what };
  const explained = isDiskFull(error) ? toDiskFullFailure(error) : error;
  if (explained instanceof Failure)
    return { kind: 'failed', type: explained.type, reason: reasonOf(explained) };
  // The messages of a library are about its own code.
  return { kind: 'failed', type: 'InvalidBody', reason: UNDECODABLE };
}

process.on('message', (task: DecodeTask) => {
  void decode(task).catch(explain).then(sendToParent);
});
endWithParent();
