// Defines a row of the market's document: one path, with its parameters and its answer.
import type { Shape } from '../../../market/types/shape.ts';
import { pascal } from '../../../market/types/shapes.ts';

export interface TypeRow {
  /** Id of the endpoint that answers it. */
  readonly endpointId: string;
  /** The id of its operation without the leading `get`. */
  readonly operationName: string;
  /** The path below the version. */
  readonly path: string;
  readonly summary: string;
  /** The weight of the endpoint when left out. */
  readonly weight?: string;
  /** Names of the endpoint's parameters; when left out, all that do not change the shape of answers. */
  readonly parameters?: readonly string[];
  /** Allowed values of path segments. */
  readonly segments?: Readonly<Record<string, readonly string[]>>;
  readonly shape: Shape;
}

/** Turns `quote` and `:attribute` into `QuoteAttribute`, `chart` and `date/:date` into `ChartByDate`. */
export function buildOperationName(name: string, path: string): string {
  const last = path.split('/').at(-1) ?? '';
  if (!last.startsWith(':')) return pascal(last === '' ? name : `${name}-${last}`);
  return `${pascal(name)}${last === ATTRIBUTE ? '' : 'By'}${pascal(last.slice(1))}`;
}

export const ATTRIBUTE = ':attribute';
