// Lists recordings of feeds for old clients (INTERFACE.md 1 "hist"): the files that CORE publishes under the
// names of feeds.
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import type { Call, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { textOf } from '../../../reads/request/parameters.ts';
import { toFreeAnswer } from '../../request/rows.ts';
import type { FileType } from '../../../store/publications/fileTypes.ts';
import type { Publication } from '../../../store/publications/publications.ts';
import { readableFileTypes } from './readableFileTypes.ts';

/** Feeds, by the names of their file types in CORE. */
const FEEDS: ReadonlySet<string> = new Set(['TOPS', 'DEEP', 'DPLS']);
/** Protocol of the recordings. */
const PROTOCOL = 'IEXTP1';
const VERSION = /^\d+(\.\d+)?$/;

interface Recording {
  readonly link: string;
  readonly date: string;
  readonly feed: string;
  readonly version: string | null;
  readonly protocol: string;
  readonly size: string;
}

/** Recordings by day; with `date` the list of that day. */
export async function answerHist(call: Call, services: Services): Promise<Answer> {
  const date = textOf(call.query, 'date')?.replaceAll('-', '');
  const types = (await readableFileTypes(call.caller, services)).filter(
    ({ type }) => type.workspace === CORE && FEEDS.has(type.name.toUpperCase()) && type.byDate,
  );
  const days = new Map<string, Recording[]>();
  for (const { id, type } of types) {
    for (const file of await services.publications.list(type.typeId)) {
      if (date !== undefined && file.date !== date) continue;
      const recordings = days.get(file.date) ?? [];
      recordings.push(toRecording(`/${call.path['version']}/files/download/${id}`, type, file));
      days.set(file.date, recordings);
    }
  }
  if (date !== undefined) return toFreeAnswer(days.get(date) ?? []);
  return toFreeAnswer(
    Object.fromEntries([...days].sort(([one], [other]) => (one < other ? -1 : 1))),
  );
}

const toRecording = (
  place: string,
  { bySymbol, name, tags }: FileType,
  { bytes, date, symbol }: Publication,
): Recording => ({
  link: `${place}?date=${date}${bySymbol ? `&symbol=${encodeURIComponent(symbol)}` : ''}`,
  date,
  feed: name.toUpperCase(),
  version: tags.find((tag) => VERSION.test(tag)) ?? null,
  protocol: PROTOCOL,
  size: String(bytes),
});
