// File types of owners and their published files.
import type { Static } from 'typebox';
import { SQL_BODY_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { listFileTypes, saveFileType } from '../../../store/publications/fileTypes.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import { FILE_TYPE_BODY, parseFileType } from '../../datasets/publications/fileTypeBody.ts';
import { toFileView, toOwnerView } from '../../datasets/publications/fileTypeView.ts';
import {
  NAME_PARAMETERS,
  parsePublicationName,
  ownFileType,
  PUBLISH_BODY,
  publishBody,
  publishExport,
} from '../../datasets/publications/publishing.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';

const DONE = Type.Object({ success: Type.Literal(true), message: Type.String() });

export const listOwnFileTypes: Endpoint = {
  ...OWNERS_ROW,
  id: 'listFileTypes',
  method: 'GET',
  path: '/file-types/:workspace',
  summary: 'The file types of a workspace, with their access rules.',
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const { workspace } = findPathWorkspace(call, services);
    return toFreeAnswer((await listFileTypes(services.database, workspace)).map(toOwnerView));
  },
};

export const saveType: Endpoint = {
  ...OWNERS_ROW,
  id: 'saveFileType',
  method: 'PUT',
  path: '/file-types/:workspace/:id',
  summary: 'Creates a file type, or changes the given members of an existing one.',
  body: { kind: 'json', schema: FILE_TYPE_BODY },
  answer: ANY,
  handle: async (call, services) => {
    const { workspace } = findPathWorkspace(call, services);
    const key = { workspace, name: call.path['id'] ?? '', nowMs: services.clock() };
    const settings = parseFileType(call.json as Static<typeof FILE_TYPE_BODY>);
    return toFreeAnswer(toOwnerView(await saveFileType(services.database, key, settings)));
  },
};

export const deleteType: Endpoint = {
  ...OWNERS_ROW,
  id: 'deleteFileType',
  method: 'DELETE',
  path: '/file-types/:workspace/:id',
  summary: 'Withdraws all files of a type, and the type.',
  answer: DONE,
  handle: async (call, services) => {
    await services.publications.removeType(await ownFileType(call, services));
    return toFreeAnswer({ success: true, message: 'File type has been deleted' });
  },
};

export const listPublishedFiles: Endpoint = {
  ...OWNERS_ROW,
  id: 'listPublishedFiles',
  method: 'GET',
  path: '/file-types/:workspace/:id/files',
  summary: 'The files of a type with their lengths and checksums.',
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const type = await ownFileType(call, services);
    const files = await services.publications.list(type.typeId);
    return toFreeAnswer(files.map((file) => toFileView(type, file)));
  },
};

export const publishFile: Endpoint = {
  ...OWNERS_ROW,
  id: 'publishFile',
  method: 'POST',
  path: '/file-types/:workspace/:id/files',
  summary: 'Publishes the body as a file of the type; replaces one of the same name.',
  parameters: NAME_PARAMETERS,
  body: { kind: 'file' },
  answer: ANY,
  handle: async (call, services) => {
    const published = await publishBody(call, services);
    return toFreeAnswer(toFileView(await ownFileType(call, services), published));
  },
};

export const publishMadeFile: Endpoint = {
  ...OWNERS_ROW,
  id: 'publishMadeFile',
  method: 'POST',
  path: '/file-types/:workspace/:id/made',
  summary:
    'Publishes an export of a dataset or a query of one version, or a file of the source folder.',
  parameters: NAME_PARAMETERS,
  body: { kind: 'json', schema: PUBLISH_BODY, bytesMax: SQL_BODY_BYTES_MAX },
  answer: ANY,
  handle: async (call, services) => {
    const published = await publishExport(call, services);
    return toFreeAnswer(toFileView(await ownFileType(call, services), published));
  },
};

export const withdrawFile: Endpoint = {
  ...OWNERS_ROW,
  id: 'withdrawFile',
  method: 'DELETE',
  path: '/file-types/:workspace/:id/files',
  summary: 'Withdraws one file; its download addresses work for the rest of their minute.',
  parameters: NAME_PARAMETERS,
  answer: DONE,
  handle: async (call, services) => {
    const type = await ownFileType(call, services);
    const isWithdrawn = await services.publications.withdraw(
      type.typeId,
      parsePublicationName(type, call),
    );
    if (!isWithdrawn) throw new Failure('NotFound');
    return toFreeAnswer({ success: true, message: 'File has been withdrawn' });
  },
};
