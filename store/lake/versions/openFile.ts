// How files that are open are found and what they hold.
import type { DataFile } from './lakeRead.ts';
import type { Column } from './columns.ts';

/** Local path of a lake file, pinned by the caller. */
export type PathOf = (relative: string) => string;

/** Whether a file has each of the columns under its present name, id and type. */
export type Holds = (file: DataFile, columns: readonly Column[]) => boolean;
