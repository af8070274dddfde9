// Who is let in: token, environment, place, signature, kind, pace, budget, in this order. What a
// refusal says first is what its caller must mend first.
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

/** Whether this server may answer what it read, where another one may have taken its place. */
export interface Fence {
  /** It was known a moment ago. */
  isSure(): boolean;
  /** Asks. @throws Failure Busy where it may not, or nobody can tell. */
  sure(): Promise<void>;
}

/** What one listening port has of its own. */
export interface Door {
  readonly environment: Environment;
  /** Only streams are here: nobody need say that one is meant. */
  readonly streamsOnly: boolean;
  /** Proxies whose word on the caller's address is believed. */
  readonly proxies: AddressRules;
  /** What other nodes of the catalog sign with when they hand a request on; undefined: there are none. */
  readonly hopping: Hopping | undefined;
  readonly throttle: Pick<Throttle, 'address' | 'token'>;
  readonly replays: Replays;
  /** Undefined: no other server may take its place. */
  readonly fence?: Fence | undefined;
}

interface Admitted {
  readonly caller: Caller | undefined;
  /** Who acts, for the audit log. */
  readonly actor: string;
  /** Must be told the body's hash before anything is done with it; throws when it was not signed. */
  readonly checkBody: ((bodyHash: string) => void) | undefined;
}

/** @throws Failure with the reason, before anything of the call has run. */
export function admit(
  endpoint: Pick<Endpoint, 'always' | 'inTest' | 'method' | 'token'>,
  token: string | undefined,
  request: FastifyRequest,
  services: AdmissionServices,
  door: Door,
): Admitted {
  if (endpoint.token === 'none') return { caller: undefined, actor: '', checkBody: undefined };
  if (token === undefined) throw new Failure('NoKey');
  if (endpoint.token === 'admin') {
    if (!sameSecret(token, services.adminToken)) throw new Failure('InvalidKey');
    return { caller: undefined, actor: 'admin', checkBody: undefined };
  }
  const caller = asOperator(services.accounts.identify(token), request, services);
  checkEnvironment(caller, endpoint, door.environment);
  checkPlace(caller, request, door);
  const checkBody = checkSignature(caller, token, request, services, door);
  checkKind(caller, endpoint.token);
  if (caller.isOperator !== true) door.throttle.token(caller);
  const stopped = services.ledger.stopped(caller);
  const free = endpoint.always === true || door.environment === 'test';
  if (stopped !== undefined && !free) throw new Failure(stopped.type, stopped.detail);
  return { caller, actor: caller.tokenId, checkBody };
}

/** Beside a token of an account: the operator acts by it, and nobody pays. */
const OPERATOR_HEADER = 'x-tapedeck-operator';

/** @throws Failure InvalidKey for a header that is not the operator's token. */
function asOperator(
  caller: Caller,
  { headers }: FastifyRequest,
  { adminToken }: Pick<Services, 'adminToken'>,
): Caller {
  const shown = headers[OPERATOR_HEADER];
  if (shown === undefined) return caller;
  if (!sameSecret(String(shown), adminToken)) throw new Failure('InvalidKey');
  return { ...caller, isOperator: true };
}

const DATA_ALONE =
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
  if (endpoint.inTest !== true) throw new Failure('TestReadOnly', DATA_ALONE);
}

/** Rules of one version of a token's settings, made ready once. */
const addressRules = new WeakMap<readonly string[], ReturnType<typeof parseAddresses>>();

/** The caller's address, as far as proxies that are trusted tell it, or another node of the catalog. */
export function addressOf(
  { raw, headers, originalUrl: url }: FastifyRequest,
  { hopping, proxies }: Pick<Door, 'hopping' | 'proxies'>,
): string {
  const handedOn = hopping && hopAddress(hopping, { method: raw.method, url }, headers[HOP_HEADER]);
  return handedOn ?? senderOf(raw, proxies);
}

function checkPlace({ token }: Caller, request: FastifyRequest, door: Door): void {
  const { addresses, referrers } = token;
  if (addresses.length > 0) {
    const rules = addressRules.get(addresses) ?? parseAddresses(addresses);
    addressRules.set(addresses, rules);
    if (!allowsAddress(rules, addressOf(request, door))) {
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
    // Identical polls within one second have one signature: they change nothing (SPEC.md 6).
    if (refuseReplays && method !== 'GET') replays.once(signature);
  };
}
