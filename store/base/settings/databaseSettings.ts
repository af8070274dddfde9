// Parses `TAPEDECK_DATABASE=postgres://user:password@host:port/database`: the catalog's PostgreSQL server.
import { isIP } from 'node:net';
import { Failure } from '../failure.ts';
import { decodeUrlPart, emptyOrRule } from './settingValues.ts';

export interface DatabaseSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The schema of the catalog's tables; created if missing. */
  readonly schema: string;
  readonly tls: 'off' | 'encrypted' | 'verified';
  /** PEM file of the authority that signed the server's certificate; undefined: the machine's authorities. */
  readonly caFile: string | undefined;
}

const TLS_BY_MODE: Readonly<Record<string, DatabaseSettings['tls']>> = {
  disable: 'off',
  require: 'encrypted',
  'verify-full': 'verified',
};
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const PARAMETERS = ['schema', 'sslmode', 'sslrootcert'];
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
const NAME = 'TAPEDECK_DATABASE';
const FORM = 'postgres://user:password@host:port/database';

const refuse = (rule: string): never => {
  throw new Failure('InvalidParameter', `setting ${NAME} ${rule}`);
};

/**
 * Parses the setting; undefined if it is empty: the catalog is a file of the data folder.
 * @throws Failure InvalidParameter with the rule, but without the value, which contains a password
 */
export function parseDatabaseSettings(text: string): DatabaseSettings | undefined {
  if (text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : refuse(emptyOrRule(FORM));
  if (!/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '' || url.hash !== '') {
    refuse(emptyOrRule(FORM));
  }
  const database = decodeUrlPart(NAME, url.pathname.slice(1));
  const [user, password] = [decodeUrlPart(NAME, url.username), decodeUrlPart(NAME, url.password)];
  if (database === '' || database.includes('/')) refuse(`names no database: it is ${FORM}`);
  if (user === '') refuse(`names no user: it is ${FORM}`);
  const unsupported = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unsupported !== undefined) refuse(`takes no ${unsupported}, only ${PARAMETERS.join(', ')}`);
  const schema = url.searchParams.get('schema') ?? 'tapedeck';
  if (!SCHEMA.test(schema)) refuse('has a schema that is no name of a-z, 0-9 and _');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const mode =
    url.searchParams.get('sslmode') ??
    (LOCAL_HOSTS.includes(url.hostname) ? 'disable' : 'verify-full');
  const tls =
    TLS_BY_MODE[mode] ?? refuse('has a sslmode that is not disable, require or verify-full');
  const caFile = url.searchParams.get('sslrootcert') ?? undefined;
  if (isIP(host) !== 0 && tls === 'verified' && url.searchParams.get('sslmode') === null) {
    refuse('names an address: set sslmode=verify-full, require or disable');
  }
  const port = url.port === '' ? 5432 : Number(url.port);
  return { host, port, user, password, database, schema, tls, caFile };
}

/** A standby node needs storage that another machine can reach. @throws Failure InvalidParameter */
export function checkStandbySettings(isShared: boolean): void {
  if (isShared) return;
  const needed = 'TAPEDECK_DATABASE, TAPEDECK_DATA=s3://… and TAPEDECK_ENCRYPTION_KEY';
  throw new Failure('InvalidParameter', `setting TAPEDECK_STANDBY=on needs ${needed}`);
}
