// Publishes a file: a body, an export of one version, or a file of the account's part of the source folder.
// Each is copied in full before it is published under its name.
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { isPattern } from '../../../pipeline/sources/base/pattern.ts';
import { parseDay } from '../../../query/time/dates.ts';
import { Failure } from '../../../store/base/failure.ts';
import { newUuid } from '../../../store/base/random.ts';
import { checkStorage } from '../../../store/lake/storage.ts';
import { type FileType, findFileType } from '../../../store/publications/fileTypes.ts';
import {
  type Publication,
  type PublicationName,
  checkSymbol,
} from '../../../store/publications/publications.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import { EXPORT_BODY, type ExportBody } from '../ingest/exportBody.ts';
import { writeExportFile } from '../ingest/exporting.ts';
import type { Call, Services } from '../../request/endpoint.ts';
import { type Parameter, refuse, textOf } from '../../../reads/request/parameters.ts';
import { spoolBody } from '../../http/spool.ts';

/** Parameters that name a file of a type. */
export const NAME_PARAMETERS: readonly Parameter[] = [
  { kind: 'text', name: 'symbol', help: 'Symbol of the file, where its type is by symbol.' },
  { kind: 'text', name: 'date', help: 'Day of the file, YYYYMMDD, where its type is by date.' },
];

const { dataset, query, format, compression, asOf } = EXPORT_BODY.properties;

/** An export without a target, or a path in the folder of sources. */
export const PUBLISH_BODY = Type.Object(
  {
    dataset,
    query,
    compression,
    asOf,
    format: Type.Optional(format),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1e3,
      }),
    ),
  },
  { additionalProperties: false },
);

/** The file type of the path, in a workspace of the caller. @throws Failure NotFound, Restricted. */
export async function ownFileType(
  call: Call,
  services: Pick<Services, 'database' | 'lake'>,
): Promise<FileType> {
  const { workspace } = findPathWorkspace(call, services);
  const type = await findFileType(services.database, workspace, call.path['id'] ?? '');
  if (type === undefined) throw new Failure('NotFound');
  return type;
}

export const partRule = (type: string, part: 'symbol' | 'date'): string =>
  `must be given: ${type} is by ${part}`;

/** Parses the file's name from the query. @throws Failure InvalidParameter. */
export function parsePublicationName(
  type: FileType,
  { query: parameters }: Pick<Call, 'query'>,
): PublicationName {
  const { byDate, bySymbol, name } = type;
  const symbol = textOf(parameters, 'symbol');
  const date = textOf(parameters, 'date');
  if ((symbol !== undefined) !== bySymbol) {
    refuse('symbol', bySymbol ? partRule(name, 'symbol') : `is not of ${name}`);
  }
  if ((date !== undefined) !== byDate) {
    refuse('date', byDate ? partRule(name, 'date') : `is not of ${name}`);
  }
  const fault = symbol === undefined ? undefined : checkSymbol(symbol);
  if (fault !== undefined) refuse('symbol', fault);
  if (date !== undefined) {
    if (!/^\d{8}$/.test(date)) refuse('date', 'must be a day, YYYYMMDD');
    parseDay('date', date);
  }
  return { symbol: symbol ?? '', date: date ?? '' };
}

/** @throws Failure StorageLimit; as `parsePublicationName`, `spoolBody`, `Publications.publish`. */
export async function publishBody(call: Call, services: Services): Promise<Publication> {
  const type = await ownFileType(call, services);
  const name = parsePublicationName(type, call);
  await checkRoom(call, type, services);
  const { path } = await spoolBody(call, services);
  return services.publications.publish(type, name, path);
}

/** @throws Failure InvalidBody, SourceFailed naming the rule. */
export async function publishExport(call: Call, services: Services): Promise<Publication> {
  const type = await ownFileType(call, services);
  const name = parsePublicationName(type, call);
  const body = call.json as Static<typeof PUBLISH_BODY>;
  await checkRoom(call, type, services);
  const filePath =
    body.path === undefined
      ? await exportFile(call, services)
      : await copyFile(call, type, body.path, services);
  return services.publications.publish(type, name, filePath);
}

const checkRoom = (call: Call, { workspace }: FileType, { storage }: Services): Promise<void> =>
  checkStorage(storage, call.caller.account, workspace);

async function exportFile(call: Call, services: Services): Promise<string> {
  const body = call.json as Partial<ExportBody>;
  if (body.format === undefined) {
    const rule = 'dataset or query, with format; or path';
    throw new Failure('InvalidBody', `the body must have ${rule}`);
  }
  return writeExportFile(call, services, services.folder.temporary, newUuid());
}

/** Copies a file of the account; refuses links that lead out of its folder. */
async function copyFile(
  call: Call,
  type: FileType,
  path: string,
  { clock, disk, fetching, folder, settings }: Services,
): Promise<string> {
  if (Object.keys(call.json as object).length > 1) {
    throw new Failure(
      'InvalidBody',
      'path must be the only member: the file is published unchanged',
    );
  }
  if (isPattern(path)) throw new Failure('InvalidBody', 'path must name one file, without * ? [ ]');
  const { accountId } = call.caller;
  const pieces = fetching.pull({
    owner: { accountId, workspace: type.workspace },
    definition: { type: 'FILE', path },
    credential: undefined,
    since: undefined,
    landing: {
      folder: folder.temporary,
      bytesMax: settings.bodyBytesMax,
      signal: call.departure(),
      nowMs: clock(),
      onBytes: () => undefined,
    },
  });
  for await (const piece of pieces) {
    if (piece.bytes > 0) return piece.path;
    await disk.remove(piece.path);
  }
  throw new Failure('InvalidBody', 'path names an empty file');
}
