// Describes a load for its owner: its index and properties, and what it replaced and left out. Everything
// that was inferred, left out, rejected or replaced has a line.
import { type PropertyType, describeProperty } from '../../store/lake/versions/columns.ts';
import type { ColumnMapping, Dataset } from '../../store/lake/datasets/datasets.ts';
import { quoteWord } from '../../store/base/shellWord.ts';
import type { Conformed, Load } from './load.ts';

/** Maximum properties that a note lists. */
const PROPERTIES_LISTED_MAX = 50;
/** Share of duplicates above which a later load gets a warning: overlapping feeds have some. */
const DUPLICATES_SHARE = 0.01;

interface Counts {
  readonly validated: number;
  /** Left out, or replaced stored records. */
  readonly duplicates: number;
  /** Stored records that were replaced; included in the duplicates. */
  readonly replaced: number;
  /** Left out because equal records are stored; included in the duplicates. */
  readonly unchanged: number;
  readonly invalid: number;
  /** Kept although equal records are stored. */
  readonly identical: number;
  /** Kept although stored records have the same key, subkey and date and other values. */
  readonly conflicting: number;
}

/** Returns one line per note; a warning begins with `warning: `. */
export function describeLoad(
  conformed: Conformed,
  counts: Counts,
  load: Pick<Load, 'duplicates'>,
): readonly string[] {
  const dataset = conformed.kind === 'new' ? conformed.draft : conformed.dataset;
  const change = conformed.kind === 'known' ? conformed.change : undefined;
  const { properties } = change?.schema ?? dataset.schema;
  return [
    conformed.index,
    describeProperties(properties, conformed.kind === 'new' ? conformed.lacking : []),
    ...describeReplaced(counts),
    ...describeDuplicates(conformed, counts, load),
    ...describeEqual(counts),
    ...describeConflicts(dataset, counts),
    ...describeLeftOut(dataset, conformed.leftOut, counts),
  ];
}

function describeEqual({ identical, unchanged }: Counts): readonly string[] {
  const left = `${unchanged} records are unchanged: equal ones are stored already`;
  const stored =
    `${identical} records are equal to stored ones and were kept; ` +
    'duplicates=skip-identical (--duplicates skip-identical) leaves such records out';
  return [...(unchanged === 0 ? [] : [left]), ...(identical === 0 ? [] : [stored])];
}

function describeConflicts(
  { dataset, mapping, workspace }: Pick<Dataset, 'dataset' | 'mapping' | 'workspace'>,
  { conflicting }: Counts,
): readonly string[] {
  if (conflicting === 0) return [];
  const named = Object.values(mapping).join(', ');
  const command = indexCommand(workspace, dataset, mapping);
  return [
    `warning: ${conflicting} records have the ${named} of stored records and other values; all were kept. ` +
      `To replace records by ${named}, declare the index: ${command}`,
  ];
}

/** The command that declares an index of stored records. Without `--duplicates`, repeats refuse it. */
export function indexCommand(workspace: string, dataset: string, mapping: ColumnMapping): string {
  const parts = Object.entries(mapping).map(([part, name]) => `--${part} ${quoteWord(name)}`);
  const place = `${quoteWord(dataset)} --workspace ${quoteWord(workspace)}`;
  return `tapedeck dataset index ${place} ${parts.join(' ')} --duplicates replace`;
}

function describeLeftOut(
  { dataset, workspace }: Pick<Dataset, 'dataset' | 'workspace'>,
  leftOut: readonly string[],
  { invalid }: Counts,
): readonly string[] {
  const names = leftOut.slice(0, PROPERTIES_LISTED_MAX).join(', ');
  const columns =
    `warning: columns that the dataset does not have are not stored: ${names}; to store them from now on, ` +
    `PATCH /v1/datasets/${workspace}/${dataset} with {"schemaContract":{"columns":"evolve"}}`;
  const rejected =
    `warning: ${invalid} records were rejected; the answer, and the invalid-records-log of the job, list ` +
    'them with reasons';
  return [...(leftOut.length === 0 ? [] : [columns]), ...(invalid === 0 ? [] : [rejected])];
}

function describeProperties(
  properties: Readonly<Record<string, PropertyType>>,
  lacking: readonly string[],
): string {
  const all = Object.entries(properties).filter(([name]) => !lacking.includes(name));
  const some = all
    .slice(0, PROPERTIES_LISTED_MAX)
    .map(([name, property]) => `${name} ${describeProperty(property)}`);
  const more = all.length > some.length ? ` and ${all.length - some.length} more` : '';
  return `properties: ${some.join(', ')}${more}`;
}

const describeReplaced = ({ replaced }: Counts): readonly string[] =>
  replaced === 0 ? [] : [`${replaced} stored records were replaced`];

const REPEATED_KEY_NOTES: Readonly<Record<Load['duplicates'], string>> = {
  ignore: 'the first one stays',
  replace: 'the last one stays',
  reject: 'the first one stays, the others are rejected',
};

function describeDuplicates(
  { batch: { repeated }, kind }: Conformed,
  { duplicates: all, replaced, unchanged, validated }: Counts,
  load: Pick<Load, 'duplicates'>,
): readonly string[] {
  const duplicates = all - replaced - unchanged;
  if (duplicates === 0) return [];
  const examples =
    repeated === undefined ? '' : `, in the file such as ${repeated.examples.join(', ')}`;
  const conflicts = `${duplicates} of ${validated} records have an index value that was taken`;
  const what = `${conflicts}, ${REPEATED_KEY_NOTES[load.duplicates]}`;
  // Overlapping files repeat some records: that is worth a line, but not a warning.
  const isUsual = kind === 'known' && duplicates <= validated * DUPLICATES_SHARE;
  return [isUsual ? what : `warning: ${what}${examples}`];
}
