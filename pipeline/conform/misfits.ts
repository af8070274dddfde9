// Widens types for values that do not fit the guessed ones, checks the columns of an index, and words both.
import {
  columnTypeOf,
  isDated,
  type PropertyType,
  propertyWord,
} from '../../store/lake/versions/columns.ts';
import type { DatasetDraft } from '../../store/lake/datasetEdits.ts';
import { Failure } from '../../store/base/failure.ts';
import { widen } from '../values/infer.ts';
import { saidOrder } from '../batch/batchStatements.ts';
import type { Relation } from '../values/relation.ts';
import type { Misfit } from '../batch/batchRequest.ts';
import type { Looking } from './load.ts';

type Properties = Readonly<Record<string, PropertyType>>;

export const ownOf = (properties: Properties, name: string): PropertyType | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/** @param fitsNumbers the stored integers are exact as numbers */
export async function widenFor(
  misfit: Misfit,
  guessed: PropertyType,
  { relation, run }: { readonly relation: Relation; readonly run: Pick<Looking, 'events'> },
  fitsNumbers = true,
): Promise<PropertyType> {
  const { column, value } = misfit;
  const own = relation.columns.find(({ name }) => name === column)?.inferred.own;
  const next = widen(guessed, value);
  const text = next.type === 'number' && !fitsNumbers ? ({ type: 'string' } as const) : next;
  const wider = own === undefined || isSameType(own, guessed) ? text : own;
  await tellWidened(misfit, wider, guessed, { relation, run });
  return wider;
}

export const isSameType = (one: PropertyType, other: PropertyType): boolean =>
  columnTypeOf(one) === columnTypeOf(other);

/** @param was the type that the value does not fit */
export async function tellWidened(
  { column, line, value }: Misfit,
  wider: PropertyType,
  was: PropertyType,
  { relation, run }: { readonly relation: Relation; readonly run: Pick<Looking, 'events'> },
): Promise<void> {
  const example = JSON.stringify(value.slice(0, 100));
  const [to, from] = [propertyWord(wider), wordOf(column, was, relation)];
  await run.events.log(`${column} becomes ${to}: line ${line} has ${example}, no ${from}`);
}

/** Describes the expected type of a value. */
export function wordOf(name: string, property: PropertyType, relation: Relation): string {
  const order = saidOrder(relation, { name, type: columnTypeOf(property) });
  const word = propertyWord(property);
  return order === undefined ? word : `${word} in the order ${order}`;
}

export const noDate = (name: string, why: string): Failure =>
  new Failure('InvalidBody', `property '${name}' can not be the date: ${why}`);

/** @throws Failure InvalidBody if an indexed property is not in the file or cannot be indexed. */
export function checkColumns(dataset: DatasetDraft, relation: Relation): void {
  const names = new Set(relation.columns.map(({ name }) => name));
  for (const [part, name] of Object.entries(dataset.mapping)) {
    const property = dataset.schema.properties[name];
    if (!names.has(name) || property === undefined) {
      throw new Failure(
        'InvalidBody',
        `validation failed: should have required property '${name}'`,
      );
    }
    if (part === 'date' && !isDated(property)) {
      throw noDate(name, 'it holds no dates');
    }
    if (columnTypeOf(property) === 'json') {
      throw new Failure('InvalidBody', `property '${name}' can not be indexed: it is no scalar`);
    }
  }
}
