// `tapedeck export`: a dataset or a query as files in a folder or a bucket, with progress.
import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { counted } from '../print/answerOutput.ts';
import { progress } from '../print/progress.ts';
import { credentialNamed } from './sources.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';
import { type AskValue, withWorkspace } from '../reach/workspaceApi.ts';

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

const LOOK_MS = 200;
/** What a shell answers for a command that Ctrl-C ended. */
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
  // Within this process its owner says where files go; a server has a folder of its own for them.
  const own = isBucket(to) ? settings : { ...settings, exportFolder: dirname(folder) };
  const stop = new AbortController();
  const work: Work = async (ask, _workspace, _askData, where) => {
    const target = isBucket(to)
      ? await bucketOf(options, ask)
      : await folderOf(folder, where, settings.exportFolder);
    const made = (await ask('POST', '/exports', { ...what, target })) as ExportView;
    await follow(ask, made.exportId, dataset ?? 'query', options, stop.signal, terminal);
  };
  await withWorkspace(own, workspace, terminal, work, () => stop.abort());
}

type Work = Parameters<typeof withWorkspace>[3];

const isBucket = (to: string): boolean => /^s3:\/\//i.test(to);

async function bucketOf(
  { credential, endpoint, region, to }: ExportOptions,
  ask: AskValue,
): Promise<object> {
  const [, awsbucketName = '', prefix = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/is.exec(to) ?? [];
  if (credential === undefined) {
    throw new Failure('InvalidParameter', '--credential says what opens a bucket');
  }
  return {
    type: 'AWS-S3',
    awsbucketName,
    prefix,
    credentialId: await credentialNamed(ask, credential),
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

/** @throws Failure InvalidParameter for a folder in which a server must not write. */
async function folderOf(
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
  const rule = 'a server holds the data folder: --to is a folder below its TAPEDECK_EXPORT_FOLDER';
  throw new Failure('InvalidParameter', rule);
}

async function follow(
  ask: AskValue,
  exportId: string,
  label: string,
  { json, to }: ExportOptions,
  stop: AbortSignal,
  terminal: Terminal,
): Promise<void> {
  const shown = progress(label, terminal.stderr, json === true);
  for (;;) {
    if (stop.aborted) await ask('DELETE', `/exports/${exportId}`).catch(ifEnded);
    const view = (await ask('GET', `/exports/${exportId}`)) as ExportView;
    shown.update({ percent: view.progress, status: view.state, bytes: 0, records: view.rows });
    if (view.finished === null) {
      await new Promise((done) => setTimeout(done, LOOK_MS));
      continue;
    }
    shown.end();
    if (view.state !== 'DONE') terminal.endWith(stop.aborted ? CANCELLED : 1);
    const manifest = isBucket(to) ? view.manifest : join(to, 'manifest.json');
    sayTo(terminal)(json === true ? JSON.stringify(view) : told(view, label, manifest));
    return;
  }
}

/** It may have ended just then. */
function ifEnded(error: unknown): void {
  if (!(error instanceof Failure)) throw error;
}

function told(view: ExportView, label: string, manifest: string | null): string {
  if (view.state !== 'DONE') return `${label}: ${view.error}`;
  const of = [
    counted(view.rows, 'record'),
    counted(view.parts.length, 'part'),
    `${(view.bytes / 1e6).toFixed(1)} MB`,
    `snapshot ${view.snapshot}`,
  ];
  return `${label}: ${of.join(', ')}: ${manifest}`;
}
