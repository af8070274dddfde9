// Checks the limit of open files: sockets, pipes of child processes and files that are read all count.
import { readFileSync } from 'node:fs';
import { Failure } from '../store/base/failure.ts';

/** With fewer nothing can be served: children, catalog and a few callers use them all. */
const OPEN_FILES_MIN = 256;
/** With fewer some hundred concurrent callers are refused connections. */
const OPEN_FILES_WANTED = 1_024;

/** Exists on Linux only; elsewhere the limit is unknown. */
const LIMITS = '/proc/self/limits';

/** The soft limit of open files; undefined where it is unknown. */
export function openFilesMax(path = LIMITS): number | undefined {
  try {
    const match = /^Max open files +(\d+)/m.exec(readFileSync(path, 'utf8'));
    return match?.[1] === undefined ? undefined : Number(match[1]);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === 'ENOENT' || code === 'EACCES') return undefined;
    throw error;
  }
}

/**
 * Returns a warning about the limit for a start; undefined if it suffices.
 * @throws Failure Conflict when it is too low to serve.
 */
export function checkOpenFiles(most: number | undefined): string | undefined {
  if (most === undefined || most >= OPEN_FILES_WANTED) return undefined;
  const rule =
    `the process may have ${most} files open: raise it to ${OPEN_FILES_WANTED} or more ` +
    `(ulimit -n ${OPEN_FILES_WANTED}, or LimitNOFILE=${OPEN_FILES_WANTED} of its service)`;
  if (most < OPEN_FILES_MIN) throw new Failure('Conflict', `too few to serve: ${rule}`);
  return rule;
}
