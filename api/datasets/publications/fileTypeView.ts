// Renders file types and their files.
import { isoTime } from '../../../store/base/clock.ts';
import type { FileType } from '../../../store/publications/fileTypes.ts';
import type { Publication } from '../../../store/publications/publications.ts';
import { fileUsageKey } from './downloads.ts';
import type { ReadableFileType } from './readableFileTypes.ts';

/** SPEC.md "File type entry", and the price of a download. */
export const toFileTypeEntry = ({ id, type }: ReadableFileType): object => ({
  id,
  metadata: {
    weight: fileUsageKey(type),
    bySymbol: type.bySymbol,
    byDate: type.byDate,
    numberOfDownloads: type.downloads,
    source: type.source,
    contentType: type.contentType,
    extension: type.extension,
    tags: type.tags,
    categories: type.categories,
    title: type.title,
    messages: type.weight,
  },
  lastUpdated: isoTime(type.updatedMs),
});

/** SPEC.md "File info object". */
export const toFileInfo = (type: FileType, files: readonly Publication[]): object => ({
  symbols: type.bySymbol ? [...new Set(files.map(({ symbol }) => symbol))] : [],
  dates: type.byDate ? [...new Set(files.map(({ date }) => date))].toSorted() : [],
});

/** The view for its owner. */
export const toOwnerView = (type: FileType): object => ({
  ...toFileTypeEntry({ id: type.name, type }),
  workspace: type.workspace,
  access: type.access,
  created: isoTime(type.createdMs),
});

export const toFileView = (
  { byDate, bySymbol }: FileType,
  { bytes, date, publishedMs, sha256, symbol }: Publication,
): object => ({
  ...(bySymbol ? { symbol } : {}),
  ...(byDate ? { date } : {}),
  bytes,
  sha256,
  published: isoTime(publishedMs),
});
