// What a load tells its owner: the index and the properties it was read by, and what was left out.
import { type PropertyType, propertyWord } from '../../store/lake/versions/columns.ts';
import type { Conformed, Load } from './load.ts';

/** Properties that are told. */
const PROPERTIES_TOLD = 50;
/** Share of duplicates above which a later load is worth a look: feeds that overlap have some. */
const DUPLICATES_SHARE = 0.01;

interface Counts {
  readonly validated: number;
  readonly duplicates: number;
  /** Stored records that gave way, which are among the duplicates. */
  readonly replaced: number;
}

/** Each note one line; a warning begins with `warning: `. */
export function notesOf(
  conformed: Conformed,
  counts: Counts,
  load: Pick<Load, 'duplicates'>,
): readonly string[] {
  const made = conformed.kind === 'new' ? conformed.draft : conformed.dataset;
  const change = conformed.kind === 'known' ? conformed.change : undefined;
  const { properties } = change?.schema ?? made.schema;
  return [
    conformed.index,
    toldProperties(properties),
    ...replacedTold(counts),
    ...duplicatesTold(conformed, counts, load),
  ];
}

function toldProperties(properties: Readonly<Record<string, PropertyType>>): string {
  const all = Object.entries(properties);
  const some = all
    .slice(0, PROPERTIES_TOLD)
    .map(([name, property]) => `${name} ${propertyWord(property)}`);
  const more = all.length > some.length ? ` and ${all.length - some.length} more` : '';
  return `properties: ${some.join(', ')}${more}`;
}

/** Who asks for it is told how many, and not warned. */
const replacedTold = ({ replaced }: Counts): readonly string[] =>
  replaced === 0 ? [] : [`${replaced} stored records were replaced`];

function duplicatesTold(
  { batch: { repeated }, kind }: Conformed,
  { duplicates: taken, replaced, validated }: Counts,
  load: Pick<Load, 'duplicates'>,
): readonly string[] {
  const duplicates = taken - replaced;
  if (duplicates === 0) return [];
  if (kind === 'known' && duplicates <= validated * DUPLICATES_SHARE) return [];
  const kept = load.duplicates === 'ignore' ? 'the first one stays' : 'the last one stays';
  const shown =
    repeated === undefined ? '' : `, in the file such as ${repeated.examples.join(', ')}`;
  const what = `${duplicates} of ${validated} records have an index value that was taken, ${kept}`;
  return [`warning: ${what}${shown}`];
}
