// How many files the process may have open: its sockets, its children's pipes and what it reads all count.
import { readFileSync } from 'node:fs';
import { Failure } from '../store/base/failure.ts';

/** With fewer nothing can be served: children, catalog and a few callers take them all. */
const OPEN_FILES_MIN = 256;
/** With fewer some hundred callers at once are refused connections. */
const OPEN_FILES_WANTED = 1_024;

/** Where Linux tells it; other systems have no such file, and nothing is known. */
const LIMITS = '/proc/self/limits';

/** The soft limit of open files; undefined where the system does not tell. */
export function openFilesMax(path = LIMITS): number | undefined {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync(path, 'utf8'));
    return found?.[1] === undefined ? undefined : Number(found[1]);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === 'ENOENT' || code === 'EACCES') return undefined;
    throw error;
  }
}

/**
 * What is to be said of the limit at a start; undefined when nothing is.
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
