// Opens and checks targets by the kind of their definition.
import type { Settings } from '../../store/base/settings/settings.ts';
import { type Guard, systemResolve } from '../sources/base/guard.ts';
import { checkS3 } from '../sources/s3/s3Names.ts';
import { type Credential, SourceFailure } from '../sources/base/source.ts';
import { checkExportPath, type FolderRules, openFolderTarget } from './folder.ts';
import { MANIFEST, type S3Target, type Target, type TargetDefinition } from './target.ts';

export interface TargetRules extends Omit<FolderRules, 'exportFolder'>, Pick<Guard, 'onRefused'> {
  readonly allowPrivateAddresses: boolean;
  /** Deadline of one request to a store. */
  readonly deadlineMs: number;
}

interface TargetOrder {
  readonly exportId: string;
  readonly definition: TargetDefinition;
  /** The folder of exports when this export was created. */
  readonly exportFolder: string | undefined;
  readonly credential: Credential | undefined;
  readonly signal: AbortSignal;
}

/** @throws SourceFailure if exports must not write there. */
export async function openTarget(order: TargetOrder, rules: TargetRules): Promise<Target> {
  const { credential, definition, exportFolder, exportId, signal } = order;
  if (definition.type === 'FILE') {
    return openFolderTarget(definition.path, exportId, { ...rules, exportFolder }, signal);
  }
  checkTarget(definition, rules);
  if (credential === undefined) throw new SourceFailure('the credential is not there', false);
  // Imported with the first target that needs it.
  const { openS3Target } = await import('./s3Target.ts');
  return openS3Target(definition, credential, { ...rules, resolve: systemResolve }, signal);
}

/** Maximum bytes of a prefix: a key has 1,024 bytes, and the name of a part needs some. */
const PREFIX_BYTES_MAX = 900;

/**
 * Checks a target before anything is written.
 * @throws Failure InvalidBody naming the member and its rule.
 */
export function checkTarget(
  definition: TargetDefinition,
  { allowPrivateAddresses }: Pick<Settings, 'allowPrivateAddresses'>,
): void {
  if (definition.type === 'FILE') return checkExportPath(definition.path);
  const { awsbucketName, endpoint, prefix, region } = definition;
  const parts = prefix.replace(/\/$/, '').split('/');
  const isProper = prefix === '' || !parts.some((part) => ['', '.', '..'].includes(part));
  if (!isProper || /[\u0000-\u001f]/.test(prefix)) {
    throw new SourceFailure('target.prefix is such as a/b/, without empty names, . and ..', false);
  }
  if (Buffer.byteLength(prefix) > PREFIX_BYTES_MAX) {
    throw new SourceFailure(`target.prefix has at most ${PREFIX_BYTES_MAX} bytes`, false);
  }
  checkS3(
    {
      type: 'AWS-S3',
      awsbucketName,
      key: `${prefix}${MANIFEST}`,
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint }),
    },
    allowPrivateAddresses,
  );
}

/** Ends the prefix with a slash, as it precedes the names of parts. */
export const withSlash = (target: S3Target): S3Target =>
  target.prefix === '' || target.prefix.endsWith('/')
    ? target
    : { ...target, prefix: `${target.prefix}/` };
