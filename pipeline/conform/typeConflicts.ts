// Widens types for values that do not fit the guessed ones, checks the columns of an index, and words both.
import {
  toColumnType,
  isDated,
  type PropertyType,
  describeProperty,
} from '../../store/lake/versions/columns.ts';
import type { DatasetDraft } from '../../store/lake/datasetEdits.ts';
import { Failure } from '../../store/base/failure.ts';
import { widen } from '../values/infer.ts';
import { declaredOrder } from '../batch/batchStatements.ts';
import type { Relation } from '../values/relation.ts';
import type { Misfit } from '../batch/batchRequest.ts';
import type { LoadContext } from './load.ts';
import { requiredError } from '../batch/exactBatch.ts';

type Properties = Readonly<Record<string, PropertyType>>;

export const ownProperty = (properties: Properties, name: string): PropertyType | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/** @param isExact each stored value is exact in a wider type other than text */
export async function widenFor(
  misfit: Misfit,
  guessed: PropertyType,
  { relation, run }: { readonly relation: Relation; readonly run: Pick<LoadContext, 'events'> },
  isExact = true,
): Promise<PropertyType> {
  const { column, value } = misfit;
  const own = relation.columns.find(({ name }) => name === column)?.inferred.own;
  const next = widen(guessed, value);
  const text = toColumnType(next) === 'varchar' || isExact ? next : ({ type: 'string' } as const);
  const wider = own === undefined || isSameType(own, guessed) ? text : own;
  await logWidened(misfit, wider, guessed, { relation, run });
  return wider;
}

export const isSameType = (one: PropertyType, other: PropertyType): boolean =>
  toColumnType(one) === toColumnType(other);

/** @param was the type that the value does not fit */
export async function logWidened(
  { column, line, value }: Misfit,
  wider: PropertyType,
  was: PropertyType,
  { relation, run }: { readonly relation: Relation; readonly run: Pick<LoadContext, 'events'> },
): Promise<void> {
  const example = JSON.stringify(value.slice(0, 100));
  const [to, from] = [describeProperty(wider), describeType(column, was, relation)];
  await run.events.log(`${column} becomes ${to}: line ${line} has ${example}, no ${from}`);
}

/** Describes the expected type of a value. */
export function describeType(name: string, property: PropertyType, relation: Relation): string {
  const order = declaredOrder(relation, { name, type: toColumnType(property) });
  const word = describeProperty(property);
  return order === undefined ? word : `${word} in the order ${order}`;
}

export const noDateFailure = (name: string, why: string): Failure =>
  new Failure('InvalidBody', `property '${name}' can not be the date: ${why}`);

/** @throws Failure InvalidBody if an indexed property is not in the file or cannot be indexed. */
export function checkColumns(dataset: DatasetDraft, relation: Relation): void {
  const names = new Set(relation.columns.map(({ name }) => name));
  for (const [part, name] of Object.entries(dataset.mapping)) {
    const property = dataset.schema.properties[name];
    if (!names.has(name) || property === undefined) {
      throw new Failure('InvalidBody', requiredError(name));
    }
    if (part === 'date' && !isDated(property)) {
      throw noDateFailure(name, 'it holds no dates');
    }
    if (toColumnType(property) === 'json') {
      throw new Failure('InvalidBody', `property '${name}' can not be indexed: it is no scalar`);
    }
  }
}
