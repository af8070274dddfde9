// Parses `TAPEDECK_DATA=s3://bucket/prefix`: the bucket of dataset files, and its connection.
import { Failure } from '../failure.ts';

export interface BucketSettings {
  readonly bucket: string;
  /** Empty, or ending in `/`. */
  readonly prefix: string;
  /** Undefined: Amazon's own. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Disk space for cached copies. */
  readonly cacheBytes: number;
}

const SCHEME = 's3://';
/** A bucket and a prefix; names consist of letters, digits and `._-`. */
const BUCKET_URL =
  /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])((?:\/[A-Za-z0-9._-]{1,100}){0,8})\/?$/;
const REGION = /^[a-z0-9-]{1,32}$/;
/** Settings that apply only to a bucket. */
const BUCKET_SETTINGS = [
  'TAPEDECK_FOLDER',
  'TAPEDECK_S3_ENDPOINT',
  'TAPEDECK_S3_REGION',
  'TAPEDECK_S3_KEY_ID',
  'TAPEDECK_S3_SECRET',
  'TAPEDECK_FILE_CACHE',
] as const;

type BucketSetting = (typeof BUCKET_SETTINGS)[number];

const refuse = (rule: string): never => {
  throw new Failure('InvalidParameter', rule);
};

/**
 * Parses the settings of the bucket; undefined if `data` is a folder.
 * @throws Failure InvalidParameter with the variable and its rule
 */
export function parseBucketSettings(
  data: string,
  text: (name: BucketSetting) => string,
  isSet: (name: BucketSetting) => boolean,
  cacheBytes: () => number,
): BucketSettings | undefined {
  if (!data.startsWith(SCHEME)) {
    const unused = BUCKET_SETTINGS.find(isSet);
    if (unused === undefined) return undefined;
    return refuse(`setting ${unused} goes with TAPEDECK_DATA=s3://bucket/prefix alone`);
  }
  const [, bucket = '', below = ''] =
    BUCKET_URL.exec(data) ??
    refuse(
      `setting TAPEDECK_DATA must be a
    folder, or s3://bucket/prefix of letters, digits and ._-`.replace(/\s+/g, ' '),
    );
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(below))
    refuse('setting TAPEDECK_DATA has . or .. in its prefix');
  const [accessKeyId, secretAccessKey] = [text('TAPEDECK_S3_KEY_ID'), text('TAPEDECK_S3_SECRET')];
  if (accessKeyId === '' || secretAccessKey === '') {
    refuse('TAPEDECK_DATA=s3://… needs TAPEDECK_S3_KEY_ID and TAPEDECK_S3_SECRET');
  }
  const region = text('TAPEDECK_S3_REGION');
  if (!REGION.test(region)) refuse('setting TAPEDECK_S3_REGION must be one such as us-east-1');
  const endpoint = text('TAPEDECK_S3_ENDPOINT');
  if (endpoint !== '' && !isEndpoint(endpoint)) {
    refuse('setting TAPEDECK_S3_ENDPOINT must be an http or https URL without a path');
  }
  return {
    bucket,
    prefix: below === '' ? '' : `${below.slice(1)}/`,
    endpoint: endpoint === '' ? undefined : endpoint,
    region,
    accessKeyId,
    secretAccessKey,
    cacheBytes: cacheBytes(),
  };
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { pathname, protocol, search, username } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && search === '' && username === '';
}
