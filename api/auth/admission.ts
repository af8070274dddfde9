// Admits requests: checks token, environment, address, signature, kind, rate and budget, in this order. The
// first failure is reported.
import type { FastifyRequest } from 'fastify';
import { sameSecret } from '../../store/catalog/secrets/adminToken.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import { checkKind } from './access.ts';
import { HOP_HEADER, hopAddress, type Hopping, senderOf } from './hop.ts';
import { type AddressRules, allowsAddress, parseAddresses } from '../../store/base/addresses.ts';
import type { Endpoint, Services } from '../request/endpoint.ts';
import { allowsReferrer } from './referrer.ts';
import type { Replays } from './replays.ts';
import { openSignature } from './signing.ts';
import type { Throttle, Environment } from '../request/throttle.ts';

export type AdmissionServices = Pick<Services, 'accounts' | 'adminToken' | 'clock' | 'settings'> & {
  readonly ledger: Pick<Services['ledger'], 'stopped'>;
};

/** Confirms that this server still serves, so that its reads are not outdated. */
export interface Fence {
  /** Whether it was confirmed a moment ago. */
  isSure(): boolean;
  /** Confirms it. @throws Failure Busy if it does not serve any more, or that can't be determined. */
  sure(): Promise<void>;
}

/** Settings and state of one listening port. */
export interface Door {
  readonly environment: Environment;
  /** Only streams are served: clients need not set the `Accept` header. */
  readonly streamsOnly: boolean;
  /** Proxies that are trusted to report the caller's address. */
  readonly proxies: AddressRules;
  /** The key with which other nodes of the catalog sign forwarded requests; undefined without other nodes. */
  readonly hopping: Hopping | undefined;
  readonly throttle: Pick<Throttle, 'address' | 'token'>;
  readonly replays: Replays;
  /** Undefined: no other server can replace this one. */
  readonly fence?: Fence | undefined;
}

interface Admitted {
  readonly caller: Caller | undefined;
  /** The actor for the audit log. */
  readonly actor: string;
  /** Call it with the body's hash before the body is used; throws if that hash was not signed. */
  readonly checkBody: ((bodyHash: string) => void) | undefined;
}

/** @throws Failure with the reason, before anything of the call has run. */
export function admit(
  endpoint: Pick<Endpoint, 'always' | 'inTest' | 'method' | 'token'>,
  token: string | undefined,
  request: FastifyRequest,
  services: AdmissionServices,
  port: Door,
): Admitted {
  if (endpoint.token === 'none') return { caller: undefined, actor: '', checkBody: undefined };
  if (token === undefined) throw new Failure('NoKey');
  if (endpoint.token === 'admin') {
    if (!sameSecret(token, services.adminToken)) throw new Failure('InvalidKey');
    return { caller: undefined, actor: 'admin', checkBody: undefined };
  }
  const caller = withOperator(services.accounts.identify(token), request, services);
  checkEnvironment(caller, endpoint, port.environment);
  checkPlace(caller, request, port);
  const checkBody = checkSignature(caller, token, request, services, port);
  checkKind(caller, endpoint.token);
  if (caller.isOperator !== true) port.throttle.token(caller);
  const refusal = services.ledger.stopped(caller);
  const isFree = endpoint.always === true || port.environment === 'test';
  if (refusal !== undefined && !isFree) throw new Failure(refusal.type, refusal.detail);
  return { caller, actor: caller.tokenId, checkBody };
}

/** With this header beside an account's token the operator acts for the account, free of charge. */
const OPERATOR_HEADER = 'x-tapedeck-operator';

/** @throws Failure InvalidKey for a header that is not the operator's token. */
function withOperator(
  caller: Caller,
  { headers }: FastifyRequest,
  { adminToken }: Pick<Services, 'adminToken'>,
): Caller {
  const operatorToken = headers[OPERATOR_HEADER];
  if (operatorToken === undefined) return caller;
  if (!sameSecret(String(operatorToken), adminToken)) throw new Failure('InvalidKey');
  return { ...caller, isOperator: true };
}

const DATA_ONLY =
  'The test environment answers data, and nothing of how production is set up or used';

function checkEnvironment(
  { token }: Caller,
  endpoint: Pick<Endpoint, 'inTest' | 'method'>,
  environment: Environment,
): void {
  if (token.test && environment === 'production') throw new Failure('TestTokenInProduction');
  if (!token.test && environment === 'test') throw new Failure('ProductionTokenInSandbox');
  if (environment !== 'test') return;
  if (endpoint.method !== 'GET') throw new Failure('TestReadOnly');
  if (endpoint.inTest !== true) throw new Failure('TestReadOnly', DATA_ONLY);
}

/** Parsed address rules, cached for each version of a token's settings. */
const addressRules = new WeakMap<readonly string[], ReturnType<typeof parseAddresses>>();

/** The caller's address, as reported by trusted proxies or by another node of the catalog. */
export function addressOf(
  { raw, headers, originalUrl: url }: FastifyRequest,
  { hopping, proxies }: Pick<Door, 'hopping' | 'proxies'>,
): string {
  const proxiedAddress =
    hopping && hopAddress(hopping, { method: raw.method, url }, headers[HOP_HEADER]);
  return proxiedAddress ?? senderOf(raw, proxies);
}

function checkPlace({ token }: Caller, request: FastifyRequest, port: Door): void {
  const { addresses, referrers } = token;
  if (addresses.length > 0) {
    const rules = addressRules.get(addresses) ?? parseAddresses(addresses);
    addressRules.set(addresses, rules);
    if (!allowsAddress(rules, addressOf(request, port))) {
      throw new Failure('DeniedReferer', 'The address of this request is not allowed');
    }
  }
  if (referrers.length > 0 && !allowsReferrer(referrers, request.headers.referer)) {
    throw new Failure('DeniedReferer');
  }
}

function checkSignature(
  { token: { fullSignatures, refuseReplays, signed } }: Caller,
  token: string,
  { method, originalUrl, headers }: FastifyRequest,
  { accounts, clock, settings }: Pick<Services, 'accounts' | 'clock' | 'settings'>,
  { replays }: Door,
): Admitted['checkBody'] {
  const secret = signed ? accounts.signingSecret(token) : undefined;
  if (secret === undefined) return undefined;
  const url = originalUrl;
  const at = url.indexOf('?');
  const date = headers[`x-${settings.brand}-date`];
  const request = {
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: at < 0 ? '' : url.slice(at + 1),
    host: headers.host ?? '',
    date: typeof date === 'string' ? date : undefined,
    authorization: headers.authorization,
    token,
  };
  const verify = openSignature(request, secret, settings.brand, clock(), fullSignatures);
  return (bodyHash) => {
    const signature = verify(bodyHash);
    // Identical polls within one second share a signature and are harmless (SPEC.md 6).
    if (refuseReplays && method !== 'GET') replays.once(signature);
  };
}
