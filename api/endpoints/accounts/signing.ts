// Endpoints of signed tokens (SPEC.md "Account", "Authentication" 6).
import { Type } from '../../../reads/request/schema.ts';
import { Failure } from '../../../store/base/failure.ts';
import { requireManager } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { refuse, textOf, truthOf } from '../../../reads/request/parameters.ts';

const ROW = {
  path: '/account/signed',
  token: 'secret',
  weight: 'free',
  always: true,
  failures: 'data',
} as const satisfies Partial<Endpoint>;

const text = (name: string, help: string) =>
  ({ kind: 'text', name, help, pattern: /^[\w-]{1,256}$/, rule: 'must be a token' }) as const;

export const signToken: Endpoint = {
  ...ROW,
  id: 'signToken',
  method: 'POST',
  summary: 'Makes a token need signed requests, or no longer; grow and scale tiers.',
  parameters: [
    text('tokenToSign', 'A publishable or secret token of the account.'),
    { kind: 'boolean', name: 'unsign', help: 'true: the token no longer needs a signature.' },
  ],
  body: { kind: 'form' },
  answer: Type.Object({ secret: Type.String(), signedToken: Type.String() }),
  handle: async (call, services) => {
    const accountId = requireSigner(call);
    const { accounts } = services;
    const token = textOf(call.query, 'tokenToSign') ?? refuse('tokenToSign', 'is required');
    const unsign = truthOf(call.query, 'unsign');
    checkOwnToken('tokenToSign', accountId, token, services);
    if (unsign) await accounts.unsignToken(accountId, token, call.actor);
    const secret = unsign ? '' : await accounts.signToken(accountId, token, call.actor);
    return { kind: 'json', value: { secret, signedToken: token }, metering: 'free' };
  },
};

export const getSignedToken: Endpoint = {
  ...ROW,
  id: 'getSignedToken',
  method: 'GET',
  summary: 'The secret with which requests of a signed token are signed.',
  parameters: [text('signedToken', 'The signed token.')],
  answer: Type.Object({ secret: Type.String() }),
  handle: async (call, services) => {
    const accountId = requireSigner(call);
    const token = textOf(call.query, 'signedToken') ?? refuse('signedToken', 'is required');
    checkOwnToken('signedToken', accountId, token, services);
    const secret = services.accounts.signingSecret(token);
    if (secret === undefined) return refuse('signedToken', 'is not signed');
    return { kind: 'json', value: { secret }, metering: 'free' };
  },
};

/** @throws Failure FreeTierNotAllowed, TierNotAllowed: only Grow and Scale may sign (SPEC.md). */
function requireSigner({ caller }: Call): string {
  const { accountId, tier } = requireManager(caller);
  if (!tier.signing) {
    throw new Failure(tier.name === 'free' ? 'FreeTierNotAllowed' : 'TierNotAllowed');
  }
  return accountId;
}

function checkOwnToken(
  name: string,
  accountId: string,
  token: string,
  { accounts }: Pick<Services, 'accounts'>,
): void {
  if (accounts.ownsToken(accountId, token)) return;
  refuse(name, 'is not a token of this account');
}
