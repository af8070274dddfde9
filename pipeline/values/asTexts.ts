// A file read without the types of its columns.
import type { Relation } from './relation.ts';

/** As texts, where it can be: no line is refused for the value of another column. */
export const asTexts = (relation: Relation): Relation =>
  relation.kind === 'csv' ? { ...relation, texts: true } : relation;
