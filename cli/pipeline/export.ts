// `tapedeck export`: writes a dataset or a query to files in a folder or a bucket, with progress.
import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { pluralize } from '../print/answerOutput.ts';
import { progress } from '../print/progress.ts';
import { findCredentialId } from './sources.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { type CallJson, withWorkspace } from '../connect/workspaceApi.ts';

export interface ExportOptions {
  readonly query?: string;
  readonly format: string;
  readonly to: string;
  readonly workspace?: string;
  readonly compression?: string;
  readonly asOf?: string;
  readonly rowsPerFile?: string;
  readonly credential?: string;
  readonly region?: string;
  readonly endpoint?: string;
  readonly json?: boolean;
}

interface ExportView {
  readonly exportId: string;
  readonly state: string;
  readonly progress: number;
  readonly rows: number;
  readonly bytes: number;
  readonly snapshot: number;
  readonly manifest: string | null;
  readonly error: string | null;
  readonly finished: number | null;
  readonly parts: readonly object[];
}

const POLL_MS = 200;
/** Exit code of a command that Ctrl-C ended. */
const CANCELLED = 130;

export async function exportData(
  dataset: string | undefined,
  options: ExportOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { query, rowsPerFile, to } = options;
  const folder = resolve(terminal.folder, to);
  if (rowsPerFile !== undefined && !/^\d{1,15}$/.test(rowsPerFile)) {
    throw new Failure('InvalidParameter', '--rows-per-file must be a whole number');
  }
  const what = {
    ...(dataset === undefined ? {} : { dataset }),
    ...(query === undefined ? {} : { query }),
    ...(options.compression === undefined ? {} : { compression: options.compression }),
    ...(options.asOf === undefined ? {} : { asOf: options.asOf }),
    ...(rowsPerFile === undefined ? {} : { rowsPerFile: Number(rowsPerFile) }),
    format: options.format,
  };
  const workspace = options.workspace ?? /^([^.]+)\./.exec(dataset ?? '')?.[1];
  // In this process the caller chooses the folder; a server writes only below its export folder.
  const own = isBucket(to) ? settings : { ...settings, exportFolder: dirname(folder) };
  const stop = new AbortController();
  const work: Work = async (call, _workspace, _askData, where) => {
    const target = isBucket(to)
      ? await bucketTarget(options, call)
      : await folderTarget(folder, where, settings.exportFolder);
    const created = (await call('POST', '/exports', { ...what, target })) as ExportView;
    await follow(call, created.exportId, dataset ?? 'query', options, stop.signal, terminal);
  };
  await withWorkspace(own, workspace, terminal, work, () => stop.abort());
}

type Work = Parameters<typeof withWorkspace>[3];

const isBucket = (to: string): boolean => /^s3:\/\//i.test(to);

async function bucketTarget(
  { credential, endpoint, region, to }: ExportOptions,
  call: CallJson,
): Promise<object> {
  const [, awsbucketName = '', prefix = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/is.exec(to) ?? [];
  if (credential === undefined) {
    throw new Failure('InvalidParameter', '--credential must name the credential of the bucket');
  }
  return {
    type: 'AWS-S3',
    awsbucketName,
    prefix,
    credentialId: await findCredentialId(call, credential),
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

/** @throws Failure InvalidParameter for a folder to which a server must not write */
async function folderTarget(
  folder: string,
  where: 'core' | 'server',
  exportFolder: string | undefined,
): Promise<object> {
  if (where === 'core') {
    await mkdir(dirname(folder), { recursive: true });
    return { type: 'FILE', path: relative(dirname(folder), folder) };
  }
  const path = exportFolder === undefined ? '' : relative(resolve(exportFolder), folder);
  if (path !== '' && !path.startsWith('..') && !isAbsolute(path)) {
    return { type: 'FILE', path: path.split(sep).join('/') };
  }
  const rule =
    'a server uses the data folder: --to must be a folder below its TAPEDECK_EXPORT_FOLDER';
  throw new Failure('InvalidParameter', rule);
}

async function follow(
  call: CallJson,
  exportId: string,
  label: string,
  { json, to }: ExportOptions,
  stop: AbortSignal,
  terminal: Terminal,
): Promise<void> {
  const bar = progress(label, terminal.stderr, json === true);
  for (;;) {
    if (stop.aborted) await call('DELETE', `/exports/${exportId}`).catch(ifEnded);
    const view = (await call('GET', `/exports/${exportId}`)) as ExportView;
    bar.update({ percent: view.progress, status: view.state, bytes: 0, records: view.rows });
    if (view.finished === null) {
      await new Promise((done) => setTimeout(done, POLL_MS));
      continue;
    }
    bar.end();
    if (view.state !== 'DONE') terminal.endWith(stop.aborted ? CANCELLED : 1);
    const manifest = isBucket(to) ? view.manifest : join(to, 'manifest.json');
    printTo(terminal)(json === true ? JSON.stringify(view) : formatResult(view, label, manifest));
    return;
  }
}

/** Ignores a refusal: the export may just have ended. */
function ifEnded(error: unknown): void {
  if (!(error instanceof Failure)) throw error;
}

function formatResult(view: ExportView, label: string, manifest: string | null): string {
  if (view.state !== 'DONE') return `${label}: ${view.error}`;
  const of = [
    pluralize(view.rows, 'record'),
    pluralize(view.parts.length, 'part'),
    `${(view.bytes / 1e6).toFixed(1)} MB`,
    `snapshot ${view.snapshot}`,
  ];
  return `${label}: ${of.join(', ')}: ${manifest}`;
}
