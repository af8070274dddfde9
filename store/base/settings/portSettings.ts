// The settings of ports, which are a part of the table in settingsTable.ts, and the parsers of their values.
import { checkPattern } from './settingValues.ts';

/** Rows of the table in `settingsTable.ts`. */
export const PORT_SETTINGS = [
  {
    name: 'TAPEDECK_RATE_LIMIT',
    fallback: 'on',
    unit: 'on|off',
    help: 'Limit the rate of requests: by address, and by token according to its tier.',
  },
  {
    name: 'TAPEDECK_TRUSTED_PROXIES',
    fallback: '',
    unit: 'addresses',
    help: 'Comma list of addresses and CIDR ranges whose X-Forwarded-For is trusted.',
  },
  {
    name: 'TAPEDECK_SANDBOX_PORT',
    fallback: '',
    unit: 'port',
    help: 'Port of the test environment; none when empty.',
  },
  {
    name: 'TAPEDECK_STREAM_PORT',
    fallback: '',
    unit: 'port',
    help: 'Additional port that serves only streams; none when empty.',
  },
  {
    name: 'TAPEDECK_CONSOLE',
    fallback: 'on',
    unit: 'on|off',
    help: 'Serve the web console under /console.',
  },
  {
    name: 'TAPEDECK_METRICS_PORT',
    fallback: '',
    unit: 'port or address:port',
    help:
      'Port that serves only /metrics and /healthz, on 127.0.0.1 unless an address is set; the other ports ' +
      'then do not serve /metrics.',
  },
  {
    name: 'TAPEDECK_MCP_ORIGINS',
    fallback: '',
    unit: 'origins',
    help: 'Comma list of origins whose pages may use /mcp, in addition to the address of the server.',
  },
] as const;

/** The address at which a port listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const LISTEN_ADDRESS = /^(?:(?:\[([0-9a-fA-F:.]{2,45})\]|([\w.-]{1,253})):)?(\d{1,5})$/;
const PORT_MAX = 65_535;

/** Parses the address of a port; undefined if empty. @throws Failure InvalidParameter */
export function parseListenAddress(name: string, text: string): ListenAddress | undefined {
  if (text === '') return undefined;
  const rule = 'a port, such as 9464, or an address and a port, such as 0.0.0.0:9464';
  const [, bracketed, plain, port] =
    LISTEN_ADDRESS.exec(checkPattern(name, text, LISTEN_ADDRESS, rule)) ?? [];
  if (Number(port) > PORT_MAX) checkPattern(name, '', /./, rule);
  return { host: bracketed ?? plain ?? '127.0.0.1', port: Number(port) };
}

/** One origin: a scheme and a host, with a port if it is not the default of the scheme. */
const ORIGIN = /^https?:\/\/[^\s/?#,@]{1,253}$/;
const ORIGINS_MAX = 100;

/** @throws Failure InvalidParameter */
export function parseOrigins(name: string, text: string): ReadonlySet<string> {
  const list = text.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));
  const rule = `a comma list of at most ${ORIGINS_MAX} origins, such as https://app.example.com`;
  checkPattern(name, list.length > ORIGINS_MAX ? 'too many' : 'few', /^few$/, rule);
  return new Set(list.map((item) => checkPattern(name, item, ORIGIN, rule).toLowerCase()));
}
