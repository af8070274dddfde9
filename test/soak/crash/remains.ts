// Rebuilds a disk after a power loss: bytes that were never synced may be gone, cut short or zero; names
// whose folder was not synced may be old or new. The catalog is that of its last complete commit, since
// SQLite syncs every commit.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Cut, History } from './history.ts';
import type { Seeded } from './rounds/seeded.ts';
import type { Operation, Tape } from './rounds/tape.ts';

/** A file's bytes and the moment since which they are safe. */
interface Content {
  bytes: Buffer;
  /** Moment at which these bytes were synced; infinite if they never were. */
  safe: number;
}

/** A change of one name: to a content, or its removal. */
interface Naming {
  readonly content: Content | undefined;
  readonly start: number;
  readonly end: number;
}

interface Names {
  readonly byPath: ReadonlyMap<string, readonly Naming[]>;
  /** Folders below the data folder: when each may first exist, and when it certainly exists. */
  readonly folders: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
}

/** Fate of unsynced bytes and names: all lost, all kept, or decided for each. */
type Fate = 'lost' | 'kept' | 'mixed';

export function rebuild(history: History, cut: Cut, random: Seeded): void {
  const { folder, tape } = history;
  rmSync(folder, { recursive: true, force: true });
  for (const name of ['lake', 'spool', 'tmp']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'catalog.db'), history.catalog);
  writeFileSync(join(folder, 'catalog.db-wal'), tornLog(history, cut, random));
  const names = namesOf(tape, folder);
  const fate = random.pick<Fate>(['lost', 'kept', 'mixed']);
  const there = new Set([join(folder, 'lake'), join(folder, 'spool')]);
  for (const [path, { start, end }] of names.folders) {
    const sure = end <= cut.moment;
    if (!there.has(dirname(path)) || start > cut.moment) continue;
    if (!sure && !survives(fate, random)) continue;
    there.add(path);
    mkdirSync(path);
  }
  for (const [path, namings] of names.byPath) {
    if (!there.has(dirname(path))) continue;
    const content = contentAt(path, namings, tape, cut.moment, fate, random);
    if (content === undefined) continue;
    const safe = content.safe <= cut.moment;
    writeFileSync(path, safe ? content.bytes : remnant(content.bytes, fate, random));
  }
  addLitter(history, cut, random);
}

/** The log up to the cut, sometimes with a piece of the commit that was being written. */
function tornLog({ wal }: History, { walBytes }: Cut, random: Seeded): Buffer {
  const torn = random.chance(0.5) ? random.between(1, 3_000) : 0;
  // Less than one frame: a whole frame might be a whole commit.
  return wal.subarray(0, walBytes === 0 ? 0 : walBytes + torn);
}

function survives(fate: Fate, random: Seeded): boolean {
  return fate === 'mixed' ? random.chance(0.5) : fate === 'kept';
}

/** The name's last change that is certainly on the disk, or a later one that may be. */
function contentAt(
  path: string,
  namings: readonly Naming[],
  tape: Tape,
  moment: number,
  fate: Fate,
  random: Seeded,
): Content | undefined {
  const begun = namings.filter(({ start }) => start <= moment);
  const sure = begun.findLastIndex(({ end }) => isSynced(dirname(path), end, tape, moment));
  const open = begun.length - 1 - sure;
  const more = fate === 'mixed' ? random.between(0, open) : fate === 'kept' ? open : 0;
  return begun[sure + more]?.content;
}

/** True if a sync of the folder that began after the change had ended by the moment. */
const isSynced = (folder: string, end: number, tape: Tape, moment: number): boolean =>
  tape.operations.some(
    (one) =>
      one.kind === 'sync-folder' && one.path === folder && one.start >= end && one.end <= moment,
  );

function remnant(bytes: Buffer, fate: Fate, random: Seeded): Buffer {
  if (fate === 'kept') return bytes;
  const kind = random.pick(['empty', 'cut', 'zero'] as const);
  if (kind === 'empty') return Buffer.alloc(0);
  if (kind === 'zero') return Buffer.alloc(bytes.length);
  return bytes.subarray(0, random.between(0, bytes.length));
}

/** All names below lake/ and spool/ and their contents, in the order of the operations. */
function namesOf(tape: Tape, folder: string): Names {
  const roots = [join(folder, 'lake'), join(folder, 'spool')];
  const isKept = (path: string): boolean => roots.some((root) => path.startsWith(`${root}/`));
  const live = new Map<string, Content>();
  const byPath = new Map<string, Naming[]>();
  const folders = new Map<string, { start: number; end: number }>();
  const name = (path: string, content: Content | undefined, one: Operation): void => {
    if (content === undefined) live.delete(path);
    else live.set(path, content);
    if (!isKept(path)) return;
    byPath.set(path, [...(byPath.get(path) ?? []), { content, start: one.start, end: one.end }]);
  };
  for (const one of tape.operations) {
    if (one.kind === 'sync-file') {
      const liveContent = live.get(one.path);
      if (liveContent !== undefined)
        Object.assign(liveContent, { bytes: one.bytes, safe: one.end });
      // `end` is when the name existed, which is before the sync.
      const named = { ...one, end: one.start };
      if (liveContent === undefined) name(one.path, { bytes: one.bytes, safe: one.end }, named);
    } else if (one.kind === 'rename') {
      const content = live.get(one.from) ?? { bytes: one.bytes, safe: Number.POSITIVE_INFINITY };
      name(one.from, undefined, one);
      name(one.to, content, one);
    } else if (one.kind === 'remove') {
      name(one.path, undefined, one);
    } else if (one.kind === 'make-folder') {
      for (const path of one.createdFolders) if (!folders.has(path)) folders.set(path, one);
    }
  }
  return { byPath, folders };
}

/** Adds parts of files that were being written: incoming bodies, and temporary files. */
function addLitter({ folder, tape }: History, { moment }: Cut, random: Seeded): void {
  const coming = tape.operations.find(
    (one) => one.kind === 'sync-file' && one.start > moment && dirname(one.path) === spool(folder),
  );
  if (coming?.kind === 'sync-file' && random.chance(0.5)) {
    const part = coming.bytes.subarray(0, random.between(0, coming.bytes.length));
    writeFileSync(join(spool(folder), basename(coming.path)), part);
  }
  if (random.chance(0.5)) {
    const job = join(folder, 'tmp', 'job');
    mkdirSync(job);
    writeFileSync(join(job, 'half.parquet'), 'PAR1');
  }
}

const spool = (folder: string): string => join(folder, 'spool');
