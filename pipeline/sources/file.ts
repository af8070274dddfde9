// Pulls files of the account's part of the folder that the operator opened to sources, and of nothing else: a
// link or a `..` that leads out of it is refused. A pattern skips such a link, and a broken one, with a note:
// one link must not stop the other files that match the pattern.
import { constants } from 'node:fs';
import { copyFile, lstat, open, opendir, realpath, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import {
  type AccountFolders,
  findAccountFolder,
  isOtherAccounts,
  isWithin,
} from './accountFolder.ts';
import { withDeadline } from './base/deadline.ts';
import { land, landingPath, overLimit } from './base/landing.ts';
import { type Listed, type Listing, openListing } from './base/listing.ts';
import { checkPattern, isPattern, nameMatcher } from './base/pattern.ts';
import {
  changedSentence,
  type FileDefinition,
  goneSentence,
  type Landing,
  type Piece,
  type Pull,
  type PullOrder,
  SourceFailure,
} from './base/source.ts';

interface FileRules extends AccountFolders {
  /** Undefined: no source reads files. */
  readonly sourceFolder: string | undefined;
  /** For the listing, and for each file. */
  readonly deadlineMs: number;
}

interface ListedFile extends Listed {
  /** The real path, without links. */
  readonly path: string;
}

interface Walk {
  /** The account's folder, without links. */
  readonly root: string;
  readonly isOthers: (path: string) => boolean;
  readonly note: (note: string) => void;
  readonly signal: AbortSignal;
  /** Number of entries that were checked. */
  entries: number;
}

/** Checking this many takes 2 s (measured: 0.17 s for 100,000). */
const ENTRIES_MAX = 1_000_000;
/** Notes of one listing; further ones are summarized. */
const NOTES_MAX = 20;
/** Entries per read: four times as fast as 32 per call. */
const ENTRIES_BATCH = 1_000;
/** Digits of a time in nanoseconds: as text it sorts like the number until the year 2286. */
const TIME_DIGITS = 19;
/** Bytes per read: larger reads are no faster. */
const CHUNK_BYTES = 1024 ** 2;

export const filePull = (rules: FileRules): Pull<FileDefinition> =>
  async function* ({ definition, landing, sample, ...order }) {
    checkSourcePath(definition.path);
    const listing: Listing<ListedFile> = openListing({ definition, landing, ...order });
    await list(rules, definition.path, listing, { landing, owner: order.owner });
    const ofBytes = listing.bytes();
    let before = 0;
    for (const { item, position } of listing.fresh()) {
      const { name, bytes } = item;
      using deadline = withDeadline(landing.signal, rules.deadlineMs, `the copy of ${name}`);
      const path = await copyFileTo(item, { ...landing, signal: deadline.signal }, before, ofBytes);
      before += bytes;
      const { jsonPath } = definition;
      const piece: Piece = { name, path, bytes, position };
      yield jsonPath === undefined ? piece : { ...piece, jsonPath };
      if (sample === true) return;
    }
  };

/**
 * A path or pattern of files, below the folder of sources.
 * @throws SourceFailure naming the broken rule.
 */
export function checkSourcePath(path: string): void {
  checkPattern(path);
  const parts = path.split('/');
  if (isAbsolute(path) || parts.some((part) => ['', '.', '..'].includes(part))) {
    refuse('a path of a source is relative to TAPEDECK_SOURCE_FOLDER, without . and ..');
  }
}

const NOT_SET = 'TAPEDECK_SOURCE_FOLDER is not set: no source reads files';

/** @throws SourceFailure if the operator has opened no folder to sources. */
export function checkSourceFolder(sourceFolder: string | undefined): void {
  if (sourceFolder === undefined) refuse(NOT_SET);
}

/**
 * The real path of an account's file that is read in place.
 * @throws SourceFailure if it does not exist, is not a file, or is not the account's.
 */
export async function sourceFile(
  rules: Omit<FileRules, 'deadlineMs'>,
  path: string,
  accountId: string,
): Promise<string> {
  checkSourcePath(path);
  if (isPattern(path)) refuse('the path must name one file, not a pattern');
  const walk: Walk = {
    root: await accountRoot(rules, accountId),
    isOthers: (name) => isOtherAccounts(name, accountId, rules),
    note: () => undefined,
    signal: new AbortController().signal,
    entries: 0,
  };
  return ((await fileAt(walk, path)) ?? refuse(`${path} is no file`)).path;
}

/** Walks the path part by part, and reads only the folders that a pattern needs. */
async function list(
  rules: FileRules,
  path: string,
  listing: Listing<ListedFile>,
  { landing, owner: { accountId } }: Pick<PullOrder, 'landing' | 'owner'>,
): Promise<void> {
  using deadline = withDeadline(landing.signal, rules.deadlineMs, `the listing of ${path}`);
  const walk: Walk = {
    root: await accountRoot(rules, accountId),
    isOthers: (name) => isOtherAccounts(name, accountId, rules),
    note: noteWriter(landing),
    signal: deadline.signal,
    entries: 0,
  };
  const parts = path.split('/');
  const literal = parts.findIndex(isPattern);
  if (literal < 0) {
    listing.add((await fileAt(walk, path)) ?? refuse(`${path} is no file`));
    return;
  }
  const head = parts.slice(0, literal).join('/');
  // Items below a wildcard may be missing; the part before it may not.
  await resolveInside(walk, head);
  let names: readonly string[] = [head];
  for (const part of parts.slice(literal)) {
    const next: string[] = [];
    for (const name of names) next.push(...(await listBelow(walk, name, part)));
    names = next;
  }
  for (const name of names) {
    const file = await fileAt(walk, name).catch(noteSkipped(walk, name));
    if (file !== undefined) listing.add(file);
  }
}

async function accountRoot(
  rules: Omit<FileRules, 'deadlineMs'>,
  accountId: string,
): Promise<string> {
  const { sourceFolder } = rules;
  if (sourceFolder === undefined) {
    return refuse(NOT_SET);
  }
  const opened = await realpath(sourceFolder).catch(() =>
    refuse('TAPEDECK_SOURCE_FOLDER is not there'),
  );
  const missing = `files of this account are those of ${accountId}/ in TAPEDECK_SOURCE_FOLDER`;
  return realpath(findAccountFolder(opened, accountId, rules)).catch(() =>
    refuse(`${missing}, which is not there`),
  );
}

/** Passes on the first notes, and one more if there were others. */
function noteWriter({ onNote }: PullOrder['landing']): (note: string) => void {
  let count = 0;
  return (note) => {
    count += 1;
    if (count <= NOTES_MAX) onNote?.(note);
    else if (count === NOTES_MAX + 1) onNote?.('and more');
  };
}

/** Skips a match of a pattern: a link that cannot be followed gets a note, a removed file does not. */
const noteSkipped =
  (walk: Walk, name: string) =>
  async (error: unknown): Promise<undefined> => {
    if (!(error instanceof SourceFailure)) throw error;
    const isLinked = await hasLink(walk, name);
    if (isLinked) walk.note(`${name} is left out: ${reasonOf(error)}`);
    else ignoreGone(error);
  };

/** Whether a part of the path, or its last one, is a link. */
async function hasLink({ root }: Walk, name: string): Promise<boolean> {
  let path = root;
  for (const part of name.split('/')) {
    path = join(path, part);
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) return false;
    if (stats.isSymbolicLink()) return true;
  }
  return false;
}

async function listBelow(walk: Walk, folder: string, part: string): Promise<readonly string[]> {
  const toName = (entry: string): string => (folder === '' ? entry : `${folder}/${entry}`);
  walk.signal.throwIfAborted();
  if (!isPattern(part)) return [toName(part)];
  const matches = nameMatcher(part);
  const path = await resolveInside(walk, folder).catch(noteSkipped(walk, folder));
  const names: string[] = [];
  if (path === undefined || !(await stat(path)).isDirectory()) return names;
  for await (const { name } of await opendir(path, { bufferSize: ENTRIES_BATCH })) {
    walk.entries += 1;
    if (walk.entries > ENTRIES_MAX) refuse(`a pattern may check at most ${ENTRIES_MAX} entries`);
    if (walk.entries % 1_000 === 0) walk.signal.throwIfAborted();
    if (matches(name) && !walk.isOthers(toName(name))) names.push(toName(name));
  }
  return names;
}

/** Undefined if it is not a file. */
async function fileAt(walk: Walk, name: string): Promise<ListedFile | undefined> {
  walk.signal.throwIfAborted();
  const path = await resolveInside(walk, name);
  const stats = await stat(path, { bigint: true }).catch((error: unknown) => {
    throw fileFailure(error, name);
  });
  if (!stats.isFile()) return undefined;
  const time = String(stats.mtimeNs < 0n ? 0n : stats.mtimeNs).padStart(TIME_DIGITS, '0');
  return { name, path, bytes: Number(stats.size), time, version: String(stats.mtimeNs) };
}

/** The real path, without links. */
async function resolveInside({ isOthers, root }: Walk, name: string): Promise<string> {
  const path = await realpath(join(root, name)).catch((error: unknown) => {
    throw fileFailure(error, name);
  });
  if (!isWithin(path, root)) refuse(`${name} leads out of the account's TAPEDECK_SOURCE_FOLDER`);
  if (isOthers(relative(root, path))) refuse(`${name} is in the folder of another account`);
  return path;
}

async function copyFileTo(
  item: ListedFile,
  landing: Landing,
  before: number,
  ofBytes: number,
): Promise<string> {
  const { bytesMax, signal, onBytes } = landing;
  if (item.bytes > bytesMax) throw overLimit(bytesMax);
  let path: string | undefined;
  try {
    path = landingPath(landing);
    const isClone = await cloneFile(item.path, path);
    if (isClone) onBytes(before + item.bytes, ofBytes);
    else path = await streamFile(item.path, landing, before, ofBytes);
    const [now, copy] = await Promise.all([stat(item.path, { bigint: true }), stat(path)]);
    if (String(now.mtimeNs) === item.version && copy.size === item.bytes) return path;
  } catch (error) {
    if (path !== undefined) await rm(path, { force: true });
    signal.throwIfAborted();
    throw fileFailure(error, item.name, true);
  }
  await rm(path, { force: true });
  throw new SourceFailure(changedSentence(item.name), true);
}

/** Shares the blocks if the file system supports it: no byte is copied. */
async function cloneFile(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  }
}

async function streamFile(
  from: string,
  landing: Landing,
  before: number,
  ofBytes: number,
): Promise<string> {
  // Opening a pipe that replaced the file would block; a link would lead elsewhere.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(from, flags);
  if (!(await file.stat()).isFile()) refuse('it is no file any more');
  const chunks = file.createReadStream({ highWaterMark: CHUNK_BYTES, autoClose: false });
  return (await land(chunks, landing, { before, ofBytes })).path;
}

/** Ignores a removed file, which matters only if it was requested by name. */
function ignoreGone(error: unknown): undefined {
  if (error instanceof FileGone) return undefined;
  throw error;
}

class FileGone extends SourceFailure {}

function fileFailure(error: unknown, name: string, isCopy = false): unknown {
  if (error instanceof Failure) return error;
  const { code } = error as { readonly code?: string };
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new FileGone(isCopy ? goneSentence(name) : `${name} is not there`, isCopy);
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new SourceFailure(`${name} cannot be read: its permissions forbid it`, false);
  }
  return code === undefined ? error : new SourceFailure(`${name} cannot be read: ${code}`, true);
}

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
