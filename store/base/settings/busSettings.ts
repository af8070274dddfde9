// Parses `TAPEDECK_BUS=nats://user:password@host:port`: the NATS server that stores stream messages.
import { Failure } from '../failure.ts';
import { decodeUrlPart, emptyOrRule } from './settingValues.ts';

export interface BusSettings {
  /** `host:port` of each server of the cluster. */
  readonly servers: readonly string[];
  readonly isTls: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Used instead of user and password. */
  readonly token: string | undefined;
}

const SERVERS_MAX = 16;
const NAME = 'TAPEDECK_BUS';
const FORM = 'nats://user:password@host:port, of a cluster several with commas';

const refuse = (rule: string): never => {
  throw new Failure('InvalidParameter', `setting ${NAME} ${rule}`);
};

/**
 * Parses the setting; undefined if it is empty: stream messages are stored only in the process.
 * @throws Failure InvalidParameter with the rule, but without the value, which may contain a password
 */
export function parseBusSettings(text: string): BusSettings | undefined {
  if (text === '') return undefined;
  const urls = text.split(',').map((one) => parseUrl(one.trim()));
  if (urls.length > SERVERS_MAX) refuse(`has at most ${SERVERS_MAX} servers`);
  const [first] = urls;
  if (first === undefined) return undefined;
  const differsFromFirst = (url: URL): boolean =>
    url.protocol !== first.protocol ||
    (url.username !== '' && url.username !== first.username) ||
    (url.password !== '' && url.password !== first.password);
  if (urls.some(differsFromFirst))
    refuse('names servers of one cluster: scheme, user and password are one');
  const [name, password] = [
    decodeUrlPart(NAME, first.username),
    decodeUrlPart(NAME, first.password),
  ];
  const isToken = name !== '' && password === '';
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === '' ? '4222' : port}`),
    isTls: first.protocol === 'tls:',
    user: name === '' || isToken ? undefined : name,
    password: isToken || name === '' ? undefined : password,
    token: isToken ? name : undefined,
  };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : refuse(emptyOrRule(FORM));
  const isPlain = ['', '/'].includes(url.pathname) && url.search === '' && url.hash === '';
  if (!['nats:', 'tls:'].includes(url.protocol) || url.hostname === '' || !isPlain) {
    refuse(emptyOrRule(FORM));
  }
  return url;
}
