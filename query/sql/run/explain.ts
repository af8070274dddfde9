// Explains a query for `explain=true`: its steps, the files that it would open, and its maximum cost.
// Nothing is run.
import { prunableFiles } from '../plan/boundTable.ts';
import type { Join, Query, Source } from '../plan/selectPlan.ts';
import type { BoundPlan, SqlColumn } from './run.ts';

interface Explained {
  readonly steps: readonly string[];
  readonly columns: readonly SqlColumn[];
  readonly tables: readonly object[];
  readonly estimate: {
    readonly rows: number;
    readonly bytes: number;
    readonly weight: number;
    readonly messages: number;
  };
}

interface Price {
  readonly messages: number;
  readonly premiumMessages: number;
  readonly weight: number;
}

/** Upper bounds of an answer's size and cost. */
interface Most {
  readonly rows: number;
  readonly bytes: number;
  readonly price: Price;
}

export function explainPlan(
  bound: BoundPlan,
  columns: readonly SqlColumn[],
  { bytes, price, rows }: Most,
): Explained {
  const { messages, premiumMessages, weight } = price;
  return {
    steps: listSteps(bound.plan.query, bound, ''),
    columns,
    tables: listTables(bound),
    estimate: { rows, bytes, weight, messages: messages + premiumMessages },
  };
}

type Bound = Pick<BoundPlan, 'plan' | 'tables'>;

/** Lists datasets, including those of views. */
function listTables({ plan, tables }: Bound): readonly object[] {
  return tables.flatMap((table, index) => {
    if (table.kind === 'view') return listTables(table);
    const hints = plan.hints.filter((hint) => hint.table === index);
    return [
      {
        dataset: `${table.dataset.workspace}.${table.dataset.dataset}`,
        snapshot: table.table.snapshot,
        records: table.table.records,
        pending: table.pending.length,
        files: table.table.files.length,
        filesRead: prunableFiles(table, hints).length,
      },
    ];
  });
}

/** Lists the steps in logical order, tables first; sub-selects are indented. */
function listSteps(query: Query, bound: Bound, indent: string): readonly string[] {
  const common = query.common.flatMap(({ name, query: inner }) => [
    `${indent}with ${name}`,
    ...listSteps(inner, bound, `${indent}  `),
  ]);
  const cut = [
    query.order.length > 0 ? 'order' : '',
    query.limit === undefined ? '' : `limit ${query.limit}`,
    query.offset === undefined ? '' : `offset ${query.offset}`,
  ];
  if (query.kind === 'set') {
    const sides = [query.left, query.right].flatMap((side) =>
      listSteps(side, bound, `${indent}  `),
    );
    return [
      ...common,
      `${indent}${query.how.toLowerCase()}`,
      ...sides,
      ...indentSteps(cut, indent),
    ];
  }
  const steps = [
    query.where === undefined ? '' : 'filter',
    query.groups.length > 0 || query.groupAll ? 'group' : '',
    query.having === undefined ? '' : 'filter groups',
    query.qualify === undefined ? '' : 'filter windows',
    query.distinct || query.distinctOn.length > 0 ? 'distinct' : '',
    ...cut,
  ];
  return [...common, ...sourceSteps(query.from, bound, indent), ...indentSteps(steps, indent)];
}

const indentSteps = (steps: readonly string[], indent: string): readonly string[] =>
  steps.filter((step) => step !== '').map((step) => `${indent}${step}`);

function sourceSteps(source: Source, bound: Bound, indent: string): readonly string[] {
  if (source.kind === 'nothing') return [];
  if (source.kind === 'join') return joinSteps(source, bound, indent);
  if (source.kind === 'query') {
    return [`${indent}sub-select`, ...listSteps(source.query, bound, `${indent}  `)];
  }
  if (source.kind === 'values') return [`${indent}values: ${source.rows.length}`];
  if (source.kind === 'common') return [`${indent}read ${source.alias}`];
  const table = bound.tables[source.index];
  if (table === undefined) return [];
  if (table.kind === 'view') {
    const name = `${table.view.workspace}.${table.view.name}`;
    return [`${indent}view ${name}`, ...listSteps(table.plan.query, table, `${indent}  `)];
  }
  const hints = bound.plan.hints.filter((hint) => hint.table === source.index);
  const files = `${prunableFiles(table, hints).length} of ${table.table.files.length} files`;
  return [`${indent}read ${table.dataset.workspace}.${table.dataset.dataset}: ${files}`];
}

function joinSteps(join: Join, bound: Bound, indent: string): readonly string[] {
  const way = `${join.asOf ? 'asof ' : ''}${join.how.toLowerCase()} join`;
  return [
    ...sourceSteps(join.left, bound, indent),
    ...sourceSteps(join.right, bound, indent),
    `${indent}${way}`,
  ];
}
