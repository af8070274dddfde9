// `tapedeck file`: file types and the files that are published under them.
import { createReadStream } from 'node:fs';
import { extname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { escapeControls } from '../print/terminalText.ts';
import { checkInputFile } from '../connect/inputFile.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { type CallJson, withWorkspace } from '../connect/workspaceApi.ts';

export interface FileOptions {
  readonly type: string;
  readonly workspace?: string;
  readonly symbol?: string;
  readonly date?: string;
  readonly json?: boolean;
}

export interface PublishOptions extends FileOptions {
  readonly dataset?: string;
  readonly format?: string;
  readonly weight?: string;
  readonly source?: string;
}

interface TypeView {
  readonly id: string;
  readonly metadata: { readonly numberOfDownloads: number; readonly messages: number };
  readonly lastUpdated: string;
}

interface FileView {
  readonly symbol?: string;
  readonly date?: string;
  readonly bytes: number;
  readonly published: string;
}

/** Publishes a local file, or an export of a dataset; creates its type if it is missing. */
export async function publishFile(
  file: string | undefined,
  options: PublishOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { dataset, type } = options;
  if ((file === undefined) === (dataset === undefined)) {
    throw new Failure('InvalidParameter', 'name a file, or a dataset by --dataset');
  }
  const format = options.format ?? 'parquet';
  const path = file === undefined ? undefined : resolve(terminal.folder, file);
  if (path !== undefined) await checkInputFile(path, file ?? path);
  await withWorkspace(settings, options.workspace, terminal, async (call, workspace, callData) => {
    await ensureType(call, options, path === undefined ? format : extname(path).slice(1));
    const place = `/file-types/${encodeURIComponent(type)}`;
    const name = nameQuery(options);
    if (path === undefined) {
      const created = await call('POST', `${place}/made${name}`, { dataset, format });
      return printFile(created as FileView, options, terminal);
    }
    const route = `/file-types/${encodeURIComponent(workspace)}/${encodeURIComponent(type)}`;
    const body = createReadStream(path);
    const answer = await callData({ method: 'POST', path: `${route}/files${name}`, body });
    printFile(JSON.parse(await text(answer.body)) as FileView, options, terminal);
  });
}

/** Creates a file type; changes an existing one only by explicit options. */
async function ensureType(
  call: CallJson,
  { date, source, symbol, type, weight }: PublishOptions,
  extension: string,
): Promise<void> {
  if (weight !== undefined && !/^\d{1,7}$/.test(weight)) {
    throw new Failure('InvalidParameter', '--weight must be a whole number');
  }
  const types = (await call('GET', '/file-types')) as readonly TypeView[];
  const isThere = types.some(({ id }) => id.toUpperCase() === type.toUpperCase());
  const changes = {
    ...(weight === undefined ? {} : { weight: Number(weight) }),
    ...(source === undefined ? {} : { source }),
  };
  if (isThere && Object.keys(changes).length === 0) return;
  const named = { bySymbol: symbol !== undefined, byDate: date !== undefined };
  const fresh = { ...named, ...(extension === '' ? {} : { extension }) };
  await call(
    'PUT',
    `/file-types/${encodeURIComponent(type)}`,
    isThere ? changes : { ...fresh, ...changes },
  );
}

function nameQuery({ date, symbol }: FileOptions): string {
  const query = new URLSearchParams({
    ...(symbol === undefined ? {} : { symbol }),
    ...(date === undefined ? {} : { date }),
  }).toString();
  return query === '' ? '' : `?${query}`;
}

function printFile(view: FileView, { json, type }: FileOptions, terminal: Terminal): void {
  const name = [type, view.symbol, view.date].filter((part) => part !== undefined).join(' ');
  const line = `${name}: ${view.bytes} bytes, published ${view.published}`;
  printTo(terminal)(json === true ? JSON.stringify(view) : escapeControls(line));
}

/** Lists the file types of a workspace, or the files of one type. */
export async function listFiles(
  type: string | undefined,
  options: Omit<FileOptions, 'type'>,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const print = printTo(terminal);
  await withWorkspace(settings, options.workspace, terminal, async (call) => {
    if (type === undefined) {
      for (const one of (await call('GET', '/file-types')) as readonly TypeView[]) {
        const { messages, numberOfDownloads } = one.metadata;
        const line = `${one.id}: weight ${messages}, ${numberOfDownloads} downloads, ${one.lastUpdated}`;
        print(options.json === true ? JSON.stringify(one) : escapeControls(line));
      }
      return;
    }
    const files = await call('GET', `/file-types/${encodeURIComponent(type)}/files`);
    for (const file of files as readonly FileView[])
      printFile(file, { ...options, type }, terminal);
  });
}

/** Withdraws one file of a type. */
export async function unpublishFile(
  options: FileOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  await withWorkspace(settings, options.workspace, terminal, async (call) => {
    const place = `/file-types/${encodeURIComponent(options.type)}/files${nameQuery(options)}`;
    const { message } = (await call('DELETE', place)) as { readonly message: string };
    printTo(terminal)(options.json === true ? JSON.stringify({ message }) : message);
  });
}
