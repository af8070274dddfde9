// `TAPEDECK_BUS=nats://user:password@host:port`: where nodes keep what streams told.
import { Failure } from '../failure.ts';

export interface BusSettings {
  /** `host:port` of each server of one cluster. */
  readonly servers: readonly string[];
  readonly isTls: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** In place of both. */
  readonly token: string | undefined;
}

const SERVERS_MAX = 16;
const FORM = 'nats://user:password@host:port, of a cluster several with commas';

const refuse = (rule: string): never => {
  throw new Failure('InvalidParameter', `setting TAPEDECK_BUS ${rule}`);
};

/**
 * Undefined where the setting is empty: what streams told is held in the process alone.
 * @throws Failure InvalidParameter naming the rule; never what was given, which may have a password in it
 */
export function busSettings(text: string): BusSettings | undefined {
  if (text === '') return undefined;
  const urls = text.split(',').map((one) => urlOf(one.trim()));
  if (urls.length > SERVERS_MAX) refuse(`has at most ${SERVERS_MAX} servers`);
  const [first] = urls;
  if (first === undefined) return undefined;
  const isOther = (url: URL): boolean =>
    url.protocol !== first.protocol ||
    (url.username !== '' && url.username !== first.username) ||
    (url.password !== '' && url.password !== first.password);
  if (urls.some(isOther)) refuse('names servers of one cluster: scheme, user and password are one');
  const [name, password] = [decoded(first.username), decoded(first.password)];
  const isToken = name !== '' && password === '';
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === '' ? '4222' : port}`),
    isTls: first.protocol === 'tls:',
    user: name === '' || isToken ? undefined : name,
    password: isToken || name === '' ? undefined : password,
    token: isToken ? name : undefined,
  };
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : refuse(`must be empty or ${FORM}`);
  const isPlain = ['', '/'].includes(url.pathname) && url.search === '' && url.hash === '';
  if (!['nats:', 'tls:'].includes(url.protocol) || url.hostname === '' || !isPlain) {
    refuse(`must be empty or ${FORM}`);
  }
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('has a % that begins no %XX');
  }
}
