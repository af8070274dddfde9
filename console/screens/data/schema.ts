// Schema tab of a dataset: columns, types and index roles.
import { h, type JSX } from 'preact';
import { type Dataset, typeText } from '../../api/answers.ts';
import { plural } from '../../components/formats.ts';
import { Badge, Card } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';

export function Schema({ dataset }: { readonly dataset: Dataset }): JSX.Element {
  const { columnMapping, schema } = dataset;
  const roles = new Map(Object.entries(columnMapping).map(([role, name]) => [name, role] as const));
  const rows = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    type: typeText(property),
    role: roles.get(name),
    required: schema.required?.includes(name) === true,
  }));
  return h(
    Card,
    { title: plural(rows.length, 'column'), flush: true },
    h(Table<(typeof rows)[number]>, {
      label: 'Columns',
      rows,
      columns: [
        { title: 'Column', isHead: true, show: ({ name }) => name },
        { title: 'Type', show: ({ type }) => type },
        {
          title: 'Part of the index',
          show: ({ role }) => (role === undefined ? '' : h(Badge, { text: role, tone: 'accent' })),
        },
        { title: 'Required', show: ({ required }) => (required ? 'yes' : '') },
      ],
    }),
  );
}
