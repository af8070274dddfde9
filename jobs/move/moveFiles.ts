// Moves the files of every version to the bucket, or back from it. The next start determines where they are,
// and goes on only if all are there.
import { dirname, join } from 'node:path';
import { digestFile } from '../../store/base/fileDigest.ts';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Bucket } from '../../store/files/bucket/bucket.ts';
import { fetchInto } from '../../store/files/bucket/fetchInto.ts';
import { lakeKey } from '../../store/files/bucket/bucketPlace.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import type { PublishedFile, PublishedFiles } from '../../store/publications/publishedFiles.ts';
import type { NamedFile } from '../../store/work/catalogSnapshot.ts';

interface FilesOrder {
  readonly files: readonly NamedFile[];
  /** Files that owners published, by their ids. */
  readonly published: readonly NamedFile[];
  readonly publishedFiles: PublishedFiles;
  readonly folder: Pick<Folder, 'lake' | 'temporary'>;
  readonly bucket: Bucket;
  readonly disk: Disk;
}

export interface FilesMoved {
  readonly files: number;
  /** Files that were not there yet. */
  readonly copied: number;
}

/** @throws Failure Conflict when a file of the folder is not what was written */
export async function filesToBucket(order: FilesOrder): Promise<FilesMoved> {
  const { bucket, files, folder, published, publishedFiles } = order;
  let copied = await publishedFiles.uploadMissing(published.map(asPublished));
  for (const file of files) {
    const there = await bucket.head(lakeKey(file.path));
    if (there?.bytes === file.bytes && there.sha256 === file.sha256 && file.sha256 !== undefined) {
      continue;
    }
    const source = join(folder.lake, file.path);
    await bucket.put(lakeKey(file.path), source, await verifyContent(source, file));
    copied += 1;
  }
  return { files: files.length + published.length, copied };
}

/** @throws Failure Conflict when a file of the bucket is missing, or is not what was written */
export async function filesToFolder(order: FilesOrder): Promise<FilesMoved> {
  const { bucket, disk, files, folder, published, publishedFiles } = order;
  let copied = 0;
  for (const file of published) {
    const target = publishedFiles.pathOf(file.path);
    if (await isIntact(target, file)) continue;
    await publishedFiles.fetchLocal(asPublished(file), true);
    await verifyContent(target, file, 'published');
    copied += 1;
  }
  for (const file of files) {
    const target = join(folder.lake, file.path);
    if (await isIntact(target, file)) continue;
    const wasFetched = await fetchInto(target, {
      disk,
      temporary: folder.temporary,
      fetch: (part) => bucket.get(lakeKey(file.path), part),
      isRight: async (part) => (await verifyContent(part, file)) !== undefined,
    });
    if (!wasFetched) throw new Failure('Conflict', `${file.path} is not in ${bucket.name}`);
    await disk.syncFolder(dirname(target));
    copied += 1;
  }
  return { files: files.length + published.length, copied };
}

const asPublished = ({ bytes, path, sha256 = '' }: NamedFile): PublishedFile => ({
  publicationId: path,
  bytes,
  sha256,
});

async function verifyContent(
  path: string,
  file: NamedFile,
  folder = 'lake',
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const content = await digestFile(path).catch((error: unknown) => {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  });
  if (content !== undefined && isSame(content, file)) return content;
  const what = content === undefined ? 'is missing' : 'is not what was written: heal it first';
  throw new Failure('Conflict', `${folder}/${file.path} ${what}; what was moved before stays`);
}

async function isIntact(path: string, file: NamedFile): Promise<boolean> {
  const content = await digestFile(path).catch(() => undefined);
  return content !== undefined && isSame(content, file);
}

const isSame = (
  content: { readonly bytes: number; readonly sha256: string },
  { bytes, sha256 }: NamedFile,
): boolean => content.bytes === bytes && content.sha256 === (sha256 ?? content.sha256);
