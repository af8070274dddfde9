// The interface of a plan printer: how names, texts, tables and the current time are written.
import type { Query } from '../plan/selectPlan.ts';

export interface Writer {
  column(path: readonly string[]): string;
  text(value: string): string;
  moment(what: 'date' | 'timestamp'): string;
  /** Name of a function. */
  name(name: string): string;
  query(query: Query): string;
  /** The n-th table as a sub-select. */
  table(index: number): string;
}
