// Order of an export, as stored with it, and its row from the first to the last state.
import type { PartFormat } from '../../pipeline/targets/exportParts.ts';
import type { Part, TargetDefinition, Upload } from '../../pipeline/targets/target.ts';
import type { ExportRow } from '../../store/work/exports.ts';
import type { Moment } from '../../store/lake/history/history.ts';

export interface ExportOrder extends PartFormat {
  readonly what: ExportedDataset | ExportedQuery;
  /** Sequence of the last push that is exported besides the version's files; undefined for none. */
  readonly sequence?: number;
  /** Ids of all tables that are read: a purge of one of them ends the export. */
  readonly tableIds: readonly number[];
  readonly target: TargetDefinition;
  /** The folder that exports were limited to when it was created. */
  readonly exportFolder: string | undefined;
}

export interface ExportedDataset {
  readonly kind: 'dataset';
  readonly tableId: number;
  /** `WORKSPACE.DATASET`, as it was named then. */
  readonly name: string;
  readonly rowsPerFile: number;
}

interface ExportedQuery {
  readonly kind: 'query';
  readonly query: string;
}

/** A part that is written locally and not yet delivered. */
export interface UnfinishedPart {
  readonly part: Part;
  readonly upload?: Upload;
}

export const parseExportOrder = ({ order_json }: ExportRow): ExportOrder =>
  JSON.parse(order_json) as ExportOrder;

export const exportedMoment = (row: ExportRow): Moment => ({
  snapshot: row.snapshot_id,
  sequence: parseExportOrder(row).sequence ?? 0,
});

export const parseParts = ({ parts_json }: ExportRow): readonly Part[] =>
  JSON.parse(parts_json) as readonly Part[];

export const parseUnfinished = ({ made_json }: ExportRow): UnfinishedPart | undefined =>
  made_json === null ? undefined : (JSON.parse(made_json) as UnfinishedPart);

export function newExport(
  exportId: string,
  order: ExportOrder,
  of: Pick<ExportRow, 'account_id' | 'workspace' | 'snapshot_id' | 'created_ms'>,
): ExportRow {
  return {
    ...of,
    export_id: exportId,
    order_json: JSON.stringify(order),
    state: 'CREATED',
    progress: 0,
    attempts: 0,
    parts_json: '[]',
    made_json: null,
    rows: 0,
    bytes: 0,
    error: null,
    started_ms: null,
    finished_ms: null,
  };
}
