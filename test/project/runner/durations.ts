// Durations of test files, stored between runs outside the project, so that the longest run first.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Milliseconds by path from the root. */
export type Durations = Readonly<Record<string, number>>;

const DURATIONS_FILE = join(tmpdir(), 'tapedeck-test-durations.json');

export function readDurations(path = DURATIONS_FILE): Durations {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isDurations(content) ? content : {};
  } catch {
    // No run yet on this machine, or one that was killed while it wrote.
    return {};
  }
}

export function keepDuration(file: string, ms: number, path = DURATIONS_FILE): void {
  const durations = readDurations(path);
  writeFileSync(path, JSON.stringify({ ...durations, [file]: Math.round(ms) }));
}

const isDurations = (value: unknown): value is Durations =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((ms) => typeof ms === 'number');
