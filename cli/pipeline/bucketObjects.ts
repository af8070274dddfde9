// `tapedeck source objects`: lists the objects of a bucket, page by page. The next page is printed on
// standard error, so that tables and JSON lines have objects only.
import type { Settings } from '../../store/base/settings/settings.ts';
import { tableAnswer } from '../print/answerLists.ts';
import type { Terminal } from '../connect/terminal.ts';
import { withWorkspace } from '../connect/workspaceApi.ts';
import { findCredentialId, type PlaceOptions, findSourceId } from './sources.ts';
import { Failure } from '../../store/base/failure.ts';

export interface ObjectsOptions extends PlaceOptions {
  readonly credential?: string;
  readonly prefix?: string;
  readonly folders?: boolean;
  readonly limit?: string;
  readonly page?: string;
  readonly region?: string;
  readonly endpoint?: string;
}

interface Page {
  readonly folders: readonly string[];
  readonly objects: readonly {
    readonly key: string;
    readonly size: number;
    readonly lastModified: number | null;
  }[];
  readonly nextPage: string | null;
}

/** @param from name or id of a source, or `s3://bucket/prefix` beside a credential */
export const listObjects = (
  from: string,
  options: ObjectsOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const { credential, endpoint, folders, limit, page, prefix, region } = options;
    const { below, bucket } = parsePlace(from);
    if (bucket !== undefined && credential === undefined) {
      throw new Failure('InvalidParameter', '--credential must name the credential of s3://bucket');
    }
    const credentialId = credential && (await findCredentialId(call, credential));
    const id = bucket === undefined ? await findSourceId(call, from) : credentialId;
    const whole = bucket === undefined ? {} : { bucket };
    const first = prefix ?? (below === '' ? undefined : below);
    const parameters = { ...whole, prefix: first, limit, page, region, endpoint };
    const query = new URLSearchParams(folders === true ? { folders: 'true' } : {});
    for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
    const answer = (await call('GET', `/bucket-objects/${id}?${query}`)) as Page;
    const rows = [
      ...answer.folders.map((key) => ({ key, size: '', lastModified: '' })),
      ...answer.objects.map(({ key, lastModified, size }) => {
        const time = lastModified === null ? '' : new Date(lastModified).toISOString();
        return { key, size, lastModified: time };
      }),
    ];
    tableAnswer(rows, ['key', 'size', 'lastModified'], options, terminal);
    const { nextPage } = answer;
    if (nextPage !== null) terminal.stderr.write(`more: --page ${nextPage}\n`);
  });

const SCHEME = 's3://';

/** Parses `s3://bucket/below`; the bucket is undefined if the text is the name of a source. */
function parsePlace(from: string): { readonly bucket: string | undefined; readonly below: string } {
  if (!from.toLowerCase().startsWith(SCHEME)) return { bucket: undefined, below: '' };
  const [bucket = '', ...below] = from.slice(SCHEME.length).split('/');
  return { bucket, below: below.join('/') };
}
