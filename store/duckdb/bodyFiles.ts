// Removes the file of a body that is not sent.
import { rm } from 'node:fs';
import type { Body } from './protocol.ts';

/** Removes a body's file; ignores a missing one. */
export function dropFile(file: Body['file']): void {
  if (file !== undefined) rm(file.path, { force: true }, () => undefined);
}
