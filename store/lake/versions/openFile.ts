// Defines the lookup of paths and columns of open files.
import type { DataFile } from './lakeRead.ts';
import type { Column } from './columns.ts';

/** Returns the local path of a lake file that the caller has pinned. */
export type ResolvePath = (relative: string) => string;

/** Whether a file has each of the columns with its current name, id and type. */
export type HasColumns = (file: DataFile, columns: readonly Column[]) => boolean;
