// Exports a dataset or a query at one version to files in a folder or a bucket.
import { SQL_BODY_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { parseUnfinished, parseExportOrder, parseParts } from '../../../jobs/export/exportOrder.ts';
import { manifestLocation } from '../../../pipeline/targets/target.ts';
import { type ExportRow, findExport, listExports } from '../../../store/work/exports.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { EXPORT_BODY } from '../../datasets/ingest/exportBody.ts';
import { buildExport } from '../../datasets/ingest/exporting.ts';
import { inRange, LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { truthOf } from '../../../reads/request/parameters.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';
import { createOnce, hashJson } from '../../request/writeOnce.ts';
import { WAIT } from './jobs.ts';

type ExportsServices = Pick<Services, 'database' | 'exports' | 'lake' | 'settings'>;

const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  exportId: Type.String(),
  exportUrl: Type.String(),
});

export const createExport: Endpoint = {
  ...OWNERS_ROW,
  id: 'createExport',
  method: 'POST',
  once: true,
  path: '/exports/:workspace',
  summary: 'Writes a dataset or a query of one version into a folder or a bucket, with a manifest.',
  parameters: [WAIT],
  body: { kind: 'json', schema: EXPORT_BODY, bytesMax: SQL_BODY_BYTES_MAX },
  answer: CHANGED,
  handle: async (call, services) => {
    const exportId = await createOnce(call, services, hashJson(call), async (alongside) => {
      const row = await buildExport(call, services);
      await services.exports.submit(row, alongside);
      return row.export_id;
    });
    const { workspace } = findPathWorkspace(call, services);
    return changedAnswer('created', { export_id: exportId, workspace }, call, services);
  },
};

export const listExportsOf: Endpoint = {
  ...OWNERS_ROW,
  id: 'listExports',
  method: 'GET',
  path: '/exports/:workspace',
  summary: 'The exports of a workspace, without their parts.',
  parameters: LIST_PARAMETERS,
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const rows = await listExports(services.database, findPathWorkspace(call, services).workspace);
    const range = listRange(call.query, services.settings.zone);
    const listed = inRange(rows, range, ({ created_ms }) => created_ms);
    return toFreeAnswer(listed.map((row) => toView(row, services)));
  },
};

export const getExport: Endpoint = {
  ...OWNERS_ROW,
  id: 'getExport',
  method: 'GET',
  path: '/exports/:workspace/:id',
  summary: 'State and progress of an export, and its parts with their checksums.',
  answer: ANY,
  handle: async (call, services) => {
    const row = await ownExport(call, services);
    const parts = parseParts(row).map(({ bytes, name, rows, sha256 }) => ({
      name,
      rows,
      bytes,
      sha256,
    }));
    const making = parseUnfinished(row)?.part.name ?? null;
    return toFreeAnswer({ ...toView(row, services), making, parts });
  },
};

export const resumeExport: Endpoint = {
  ...OWNERS_ROW,
  id: 'resumeExport',
  method: 'POST',
  path: '/exports/:workspace/:id/resume',
  summary: 'Resumes a failed export from the first missing part.',
  parameters: [WAIT],
  answer: CHANGED,
  handle: async (call, services) => {
    const row = await ownExport(call, services);
    await services.exports.retry(row.export_id);
    return changedAnswer('resumed', row, call, services);
  },
};

export const cancelExport: Endpoint = {
  ...OWNERS_ROW,
  id: 'cancelExport',
  method: 'DELETE',
  path: '/exports/:workspace/:id',
  summary: 'Cancels an unfinished export; written parts stay, without a manifest.',
  answer: Type.Object({ success: Type.Literal(true), message: Type.String() }),
  handle: async (call, services) => {
    const { export_id, state } = await ownExport(call, services);
    if (!(await services.exports.cancel(export_id))) {
      throw new Failure('Conflict', endedText(export_id, state));
    }
    const ended = await services.exports.ended(export_id);
    return toFreeAnswer({
      success: true,
      message: endedText(export_id, ended.state),
    });
  },
};

const endedText = (exportId: string, state: ExportRow['state']): string =>
  `export ${exportId} has ended in ${state}`;

async function ownExport(call: Call, services: ExportsServices): Promise<ExportRow> {
  const { workspace } = findPathWorkspace(call, services);
  const row = await findExport(services.database, call.path['id'] ?? '');
  if (row === undefined || row.workspace !== workspace) throw new Failure('NotFound');
  return row;
}

/** @throws Failure InvalidBody if the call waits for the export and it fails. */
async function changedAnswer(
  action: string,
  { export_id: exportId, workspace }: Pick<ExportRow, 'export_id' | 'workspace'>,
  { query }: Call,
  { exports }: Pick<Services, 'exports'>,
): Promise<Answer> {
  if (truthOf(query, 'wait')) {
    const { error, state } = await exports.ended(exportId);
    if (state !== 'DONE') {
      throw new Failure('InvalidBody', `export ${exportId} ended in ${state}: ${error}`);
    }
  }
  const message = `Export has been ${action}`;
  return toFreeAnswer({
    success: true,
    message,
    exportId,
    exportUrl: `/v1/exports/${workspace}/${exportId}`,
  });
}

function toView(row: ExportRow, { clock, exports }: Pick<Services, 'clock' | 'exports'>): object {
  const { compression, format, target, what } = parseExportOrder(row);
  const { finished_ms, started_ms } = row;
  const liveProgress = finished_ms === null ? exports.progressOf(row.export_id) : undefined;
  return {
    exportId: row.export_id,
    workspace: row.workspace,
    ...(what.kind === 'dataset' ? { dataset: what.name } : { query: what.query }),
    format,
    compression,
    snapshot: row.snapshot_id,
    target,
    manifest: row.state === 'DONE' ? manifestLocation(target) : null,
    state: row.state,
    progress: Math.max(row.progress, liveProgress ?? 0),
    rows: row.rows,
    bytes: row.bytes,
    error: row.error,
    created: row.created_ms,
    started: started_ms,
    finished: finished_ms,
    duration: started_ms === null ? null : (finished_ms ?? clock()) - started_ms,
  };
}
