// Preview of a load from its dry run: types and reasons, rejected records, first records.
import { h, type JSX } from 'preact';
import { typeText } from '../../api/answers.ts';
import { bytes, number, plural } from '../../components/formats.ts';
import { Badge, Card, Facts } from '../../components/parts.ts';
import { type Row, Sheet } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';

export interface DryRun {
  readonly datasetId: string;
  readonly exists: boolean;
  readonly error: string | null;
  readonly schema: {
    readonly properties: Readonly<
      Record<string, { readonly type: string; readonly format?: string }>
    >;
  };
  readonly columnMapping: Readonly<Record<string, string>>;
  readonly schemaChanges: {
    readonly added: Readonly<Record<string, unknown>>;
    readonly widened: Readonly<Record<string, unknown>>;
    readonly leftOut: readonly string[];
  };
  readonly recordsValidated: number;
  readonly recordsIngested: number;
  readonly recordsInvalid: number;
  readonly recordsQuarantined: number;
  readonly recordsDuplicate: number;
  readonly invalidRecords: readonly { readonly line: number; readonly error: string }[];
  readonly notes: readonly string[];
  readonly sample: readonly Row[];
  readonly storageBytes: number;
}

export function Preview({ preview }: { readonly preview: DryRun }): JSX.Element {
  const { error, invalidRecords, sample } = preview;
  return h(
    'div',
    null,
    error === null
      ? null
      : h(
          'div',
          { class: 'notice bad', role: 'alert' },
          h('strong', null, 'The file cannot be loaded'),
          error,
        ),
    h(Effects, { preview }),
    h(
      'div',
      { class: 'halves' },
      h(Types, { preview }),
      invalidRecords.length === 0
        ? null
        : h(
            Card,
            { title: `Rejected: ${plural(preview.recordsInvalid, 'record')}`, flush: true },
            h(Table<DryRun['invalidRecords'][number]>, {
              label: 'Rejected records',
              rows: invalidRecords,
              columns: [
                { title: 'Line', isHead: true, isNumber: true, show: ({ line }) => line },
                { title: 'Reason', show: ({ error: reason }) => reason },
              ],
            }),
          ),
    ),
    sample.length === 0
      ? null
      : h(
          Card,
          { title: 'First records', flush: true },
          h(Sheet, { label: 'First records', rows: sample }),
        ),
  );
}

function Effects({ preview }: { readonly preview: DryRun }): JSX.Element {
  const { datasetId, exists, notes } = preview;
  return h(
    Card,
    { title: exists ? `Changes to ${datasetId}` : `New dataset ${datasetId}` },
    h(
      'div',
      { class: 'stack' },
      h(Facts, {
        of: [
          ['Records read', number(preview.recordsValidated + preview.recordsInvalid)],
          ['Records to load', number(preview.recordsIngested)],
          ['Rejected', number(preview.recordsInvalid)],
          ['Duplicate', number(preview.recordsDuplicate)],
          ['To quarantine', number(preview.recordsQuarantined)],
          ['Disk', bytes(preview.storageBytes)],
        ],
      }),
      h(
        'div',
        null,
        h('h3', null, 'Notes'),
        h(
          'ul',
          { class: 'small' },
          notes.map((note) => h('li', { key: note }, note)),
        ),
      ),
      h(Changes, { preview }),
    ),
  );
}

function Types({ preview }: { readonly preview: DryRun }): JSX.Element {
  const roles = new Map(Object.entries(preview.columnMapping).map(([role, name]) => [name, role]));
  const rows = Object.entries(preview.schema.properties).map(([name, property]) => ({
    name,
    type: typeText(property),
    role: roles.get(name),
  }));
  return h(
    Card,
    { title: 'Columns and types', flush: true },
    h(Table<(typeof rows)[number]>, {
      label: 'Columns and types',
      rows,
      columns: [
        { title: 'Column', isHead: true, show: ({ name }) => name },
        { title: 'Type', show: ({ type }) => type },
        {
          title: 'Index',
          show: ({ role }) => (role === undefined ? '' : h(Badge, { text: role, tone: 'accent' })),
        },
      ],
    }),
  );
}

function Changes({ preview }: { readonly preview: DryRun }): JSX.Element | null {
  const { added, leftOut, widened } = preview.schemaChanges;
  const changes = [
    ...Object.keys(added).map((name) => `adds column ${name}`),
    ...Object.keys(widened).map((name) => `widens the type of ${name}`),
    ...leftOut.map((name) => `omits column ${name}`),
  ];
  if (!preview.exists || changes.length === 0) return null;
  return h(
    'div',
    null,
    h('h3', null, 'Schema changes'),
    h(
      'ul',
      null,
      changes.map((one) => h('li', { key: one }, one)),
    ),
  );
}
