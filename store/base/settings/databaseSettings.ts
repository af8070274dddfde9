// `TAPEDECK_DATABASE=postgres://user:password@host:port/database`: which PostgreSQL keeps the catalog.
import { isIP } from 'node:net';
import { Failure } from '../failure.ts';

export interface DatabaseSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Of the catalog's tables; made when it is not there. */
  readonly schema: string;
  readonly tls: 'off' | 'encrypted' | 'verified';
  /** PEM file of who signed the server's certificate; undefined: those that the machine trusts. */
  readonly caFile: string | undefined;
}

const TLS_BY_MODE: Readonly<Record<string, DatabaseSettings['tls']>> = {
  disable: 'off',
  require: 'encrypted',
  'verify-full': 'verified',
};
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const PARAMETERS = ['schema', 'sslmode', 'sslrootcert'];
const HERE = ['localhost', '127.0.0.1', '[::1]'];
const FORM = 'postgres://user:password@host:port/database';

const refuse = (rule: string): never => {
  throw new Failure('InvalidParameter', `setting TAPEDECK_DATABASE ${rule}`);
};

/**
 * Undefined where the setting is empty: the catalog is a file of the data folder.
 * @throws Failure InvalidParameter naming the rule; never what was given, which has a password in it
 */
export function databaseSettings(text: string): DatabaseSettings | undefined {
  if (text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : refuse(`must be empty or ${FORM}`);
  if (!/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '' || url.hash !== '') {
    refuse(`must be empty or ${FORM}`);
  }
  const database = decoded(url.pathname.slice(1));
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (database === '' || database.includes('/')) refuse(`names no database: it is ${FORM}`);
  if (user === '') refuse(`names no user: it is ${FORM}`);
  const strange = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (strange !== undefined) refuse(`takes no ${strange}, only ${PARAMETERS.join(', ')}`);
  const schema = url.searchParams.get('schema') ?? 'tapedeck';
  if (!SCHEMA.test(schema)) refuse('has a schema that is no name of a-z, 0-9 and _');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const mode =
    url.searchParams.get('sslmode') ?? (HERE.includes(url.hostname) ? 'disable' : 'verify-full');
  const tls =
    TLS_BY_MODE[mode] ?? refuse('has a sslmode that is not disable, require or verify-full');
  const caFile = url.searchParams.get('sslrootcert') ?? undefined;
  if (isIP(host) !== 0 && tls === 'verified' && url.searchParams.get('sslmode') === null) {
    refuse('names an address: say sslmode=verify-full, require or disable');
  }
  const port = url.port === '' ? 5432 : Number(url.port);
  return { host, port, user, password, database, schema, tls, caFile };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('has a % that begins no %XX');
  }
}

/** What another machine is to go on with must be where that can reach it. @throws Failure InvalidParameter */
export function refuseLoneNode(isShared: boolean): void {
  if (isShared) return;
  const needed = 'TAPEDECK_DATABASE, TAPEDECK_DATA=s3://… and TAPEDECK_ENCRYPTION_KEY';
  throw new Failure('InvalidParameter', `setting TAPEDECK_STANDBY=on needs ${needed}`);
}
