// Lists published files and downloads one by an address that works once (SPEC.md "Files").
import { Type } from '../../../reads/request/schema.ts';
import { answerDownload, answerDownloadLink } from '../../datasets/publications/downloads.ts';
import { toFileTypeEntry, toFileInfo } from '../../datasets/publications/fileTypeView.ts';
import { answerHist } from '../../datasets/publications/hist.ts';
import {
  resolveFileType,
  readableFileTypes,
} from '../../datasets/publications/readableFileTypes.ts';
import { METERING_PARAMETERS } from '../../../reads/answer/metering.ts';
import type { Endpoint, OpenEndpoint } from '../../request/endpoint.ts';
import { toFreeAnswer } from '../../request/rows.ts';

const ROW = {
  method: 'GET',
  token: 'publishable',
  weight: 'free',
  failures: 'data',
} as const satisfies Partial<Endpoint>;

const RECORDING = Type.Object({
  link: Type.String(),
  date: Type.String(),
  feed: Type.String(),
  version: Type.Union([Type.String(), Type.Null()]),
  protocol: Type.String(),
  size: Type.String(),
});

const TEXTS = Type.Array(Type.String());

export const listFiles: Endpoint = {
  ...ROW,
  id: 'listFiles',
  path: '/files',
  summary: "The file types that the caller's token may read.",
  parameters: [],
  answer: Type.Array(
    Type.Object({
      id: Type.String(),
      metadata: Type.Object({
        weight: Type.String(),
        bySymbol: Type.Boolean(),
        byDate: Type.Boolean(),
        numberOfDownloads: Type.Integer(),
        source: Type.String(),
        contentType: Type.String(),
        extension: Type.String(),
        tags: TEXTS,
        categories: TEXTS,
        title: Type.String(),
        messages: Type.Integer(),
      }),
      lastUpdated: Type.String(),
    }),
  ),
  handle: async (call, services) =>
    toFreeAnswer((await readableFileTypes(call.caller, services)).map(toFileTypeEntry)),
};

export const getFileInfo: Endpoint = {
  ...ROW,
  id: 'getFileInfo',
  path: '/files/info/:id',
  summary: 'The symbols and dates of which a file type has files.',
  parameters: [],
  answer: Type.Object({ symbols: TEXTS, dates: TEXTS }),
  handle: async (call, services) => {
    const type = await resolveFileType(call.caller, call.path['id'] ?? '', services);
    return toFreeAnswer(toFileInfo(type, await services.publications.list(type.typeId)));
  },
};

export const downloadFile: Endpoint = {
  ...ROW,
  id: 'downloadFile',
  path: '/files/download/:id',
  weight: 'the weight of the file type',
  summary: 'Redirects to an address that downloads the file once, within a minute.',
  parameters: [
    { kind: 'text', name: 'symbol', help: 'Symbol of the file, where its type is by symbol.' },
    { kind: 'text', name: 'date', help: 'Day of the file, YYYYMMDD, where its type is by date.' },
    ...METERING_PARAMETERS,
  ],
  answer: Type.String({ description: 'After the redirect: the file.' }),
  handle: answerDownload,
};

export const listRecordings: Endpoint = {
  ...ROW,
  id: 'getHist',
  path: '/hist',
  summary:
    'Recordings of feeds, by day: the files that CORE publishes by date as TOPS, DEEP or DPLS; with date ' +
    'those of the day.',
  parameters: [{ kind: 'day', name: 'date', help: 'The day.' }],
  answer: Type.Union([Type.Array(RECORDING), Type.Record(Type.String(), Type.Array(RECORDING))]),
  handle: answerHist,
};

export const getFileOnce: OpenEndpoint = {
  ...ROW,
  id: 'getFileOnce',
  path: '/files/once/:link',
  token: 'none',
  summary: 'The file of a download, once; with Range in parts, and what a cut connection lost.',
  parameters: [],
  answer: Type.String({ description: 'The file.' }),
  handle: answerDownloadLink,
};
