// A row of the market's document: one path, with what it takes and what it answers.
import type { Shape } from '../../../market/types/shape.ts';
import { pascal } from '../../../market/types/shapes.ts';

export interface TypeRow {
  /** Id of the endpoint that answers it. */
  readonly of: string;
  /** Behind `get`, in the id of its operation. */
  readonly called: string;
  /** Below the version. */
  readonly path: string;
  readonly summary: string;
  /** That of the endpoint when left out. */
  readonly weight?: string;
  /** Those of the endpoint that it takes; all, but what changes the shape of answers, when left out. */
  readonly parameters?: readonly string[];
  /** What segments of the path may be. */
  readonly segments?: Readonly<Record<string, readonly string[]>>;
  readonly shape: Shape;
}

/** `quote` and `:attribute` as `QuoteAttribute`, `chart` and `date/:date` as `ChartByDate`. */
export function calledBy(name: string, path: string): string {
  const last = path.split('/').at(-1) ?? '';
  if (!last.startsWith(':')) return pascal(last === '' ? name : `${name}-${last}`);
  return `${pascal(name)}${last === ATTRIBUTE ? '' : 'By'}${pascal(last.slice(1))}`;
}

export const ATTRIBUTE = ':attribute';
