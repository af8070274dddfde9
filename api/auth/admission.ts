// Admits requests: checks token, environment, address, signature, kind, rate and budget, in this order. The
// first failure is reported.
import type { FastifyRequest } from 'fastify';
import { isSameSecret } from '../../store/catalog/secrets/adminToken.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import { checkKind } from '../../reads/rights/access.ts';
import {
  PROXY_HEADER,
  verifyProxyHeader,
  type ProxySigning,
  senderAddress,
} from './proxyIdentity.ts';
import { type AddressRules, allowsAddress, parseAddresses } from '../../store/base/addresses.ts';
import type { AnyEndpoint, Services } from '../request/endpoint.ts';
import { allowsReferrer } from './referrer.ts';
import type { Replays } from './replays.ts';
import { beginSignatureCheck } from './signing.ts';
import type { Throttle } from '../request/throttle.ts';
import type { Environment } from '../../reads/request/readRequest.ts';

export type AdmissionServices = Pick<Services, 'accounts' | 'adminToken' | 'clock' | 'settings'> & {
  readonly ledger: Pick<Services['ledger'], 'findStop'>;
};

/** Confirms that this server still serves, so that its reads are not outdated. */
export interface Fence {
  /** Whether it was confirmed a moment ago. */
  isConfirmed(): boolean;
  /** Confirms it. @throws Failure Busy if it does not serve any more, or that can't be determined. */
  confirm(): Promise<void>;
}

/** Settings and state of one listening port. */
export interface PortContext {
  readonly environment: Environment;
  /** Only streams are served: clients need not set the `Accept` header. */
  readonly hasStreamsOnly: boolean;
  /** Proxies that are trusted to report the caller's address. */
  readonly proxies: AddressRules;
  /** The key with which other nodes of the catalog sign forwarded requests; undefined without other nodes. */
  readonly proxySigning: ProxySigning | undefined;
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
  endpoint: Pick<AnyEndpoint, 'always' | 'inTest' | 'method' | 'token'>,
  token: string | undefined,
  request: FastifyRequest,
  services: AdmissionServices,
  port: PortContext,
): Admitted {
  if (endpoint.token === 'none') return { caller: undefined, actor: '', checkBody: undefined };
  if (token === undefined) throw new Failure('NoKey');
  if (endpoint.token === 'admin') {
    if (!isSameSecret(token, services.adminToken)) throw new Failure('InvalidKey');
    return { caller: undefined, actor: 'admin', checkBody: undefined };
  }
  const caller = withOperator(services.accounts.identify(token), request, services);
  checkEnvironment(caller, endpoint, port.environment);
  checkPlace(caller, request, port);
  const checkBody = checkSignature(caller, token, request, services, port);
  checkKind(caller, endpoint.token);
  if (caller.isOperator !== true) port.throttle.token(caller);
  const refusal = services.ledger.findStop(caller);
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
  if (!isSameSecret(String(operatorToken), adminToken)) throw new Failure('InvalidKey');
  return { ...caller, isOperator: true };
}

const DATA_ONLY =
  'The test environment answers data, and nothing of how production is set up or used';

function checkEnvironment(
  { token }: Caller,
  endpoint: Pick<AnyEndpoint, 'inTest' | 'method'>,
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
export function readClientAddress(
  { raw, headers, originalUrl: url }: FastifyRequest,
  { proxySigning, proxies }: Pick<PortContext, 'proxySigning' | 'proxies'>,
): string {
  const proxiedAddress =
    proxySigning &&
    verifyProxyHeader(proxySigning, { method: raw.method, url }, headers[PROXY_HEADER]);
  return proxiedAddress ?? senderAddress(raw, proxies);
}

function checkPlace({ token }: Caller, request: FastifyRequest, port: PortContext): void {
  const { addresses, referrers } = token;
  if (addresses.length > 0) {
    const rules = addressRules.get(addresses) ?? parseAddresses(addresses);
    addressRules.set(addresses, rules);
    if (!allowsAddress(rules, readClientAddress(request, port))) {
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
  { replays }: PortContext,
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
  const verify = beginSignatureCheck(request, secret, settings.brand, clock(), fullSignatures);
  return (bodyHash) => {
    const signature = verify(bodyHash);
    // Identical polls within one second share a signature and are harmless (SPEC.md 6).
    if (refuseReplays && method !== 'GET') replays.record(signature);
  };
}
