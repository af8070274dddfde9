// Tokens of an account: list, create, change, rotate, disable (INTERFACE.md 3.1 "Token settings").
import type { Static } from 'typebox';
import { GRANTS_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import type { TokenSettings } from '../../../store/accounts/tokens.ts';
import { requireManager } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { issueToken, reissueToken, updateToken } from '../../auth/tokenActions.ts';
import {
  CHANGE_TOKEN,
  CREATE_TOKEN,
  refuseSelfDisable,
  parseTokenSettings,
} from '../../auth/tokenBody.ts';
import { tokenView } from '../../auth/tokenView.ts';

type TokensServices = Pick<Services, 'accounts' | 'clock'>;

const TOKEN = Type.Object(
  { tokenId: Type.String(), token: Type.String(), kind: Type.String() },
  { additionalProperties: true },
);

const ROW = {
  token: 'secret',
  weight: 'free',
  always: true,
  parameters: [],
  answer: TOKEN,
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

const freeAnswer = (value: unknown): Answer => ({ kind: 'json', value, metering: 'free' });

export const listTokens: Endpoint = {
  ...ROW,
  id: 'listTokens',
  method: 'GET',
  path: '/account/tokens',
  inTest: true,
  summary: 'The tokens of the account; secret ones by their last four characters.',
  answer: Type.Array(TOKEN),
  handle: async (call, { accounts }) => {
    const tokens = await accounts.tokens(requireManager(call.caller).accountId);
    // Test tokens are less protected than others: they must not reveal production tokens.
    const visible = tokens.filter(({ test }) => call.environment === 'production' || test);
    return freeAnswer(visible.map((token) => tokenView(token, false)));
  },
};

export const createToken: Endpoint = {
  ...ROW,
  id: 'createToken',
  method: 'POST',
  path: '/account/tokens',
  summary: 'Creates a token; only this answer shows a secret one in full.',
  body: { kind: 'json', schema: CREATE_TOKEN, bytesMax: GRANTS_BYTES_MAX },
  handle: async (call, services) =>
    freeAnswer(await issueToken(requireManager(call.caller).accountId, call, services)),
};

export const changeToken: Endpoint = {
  ...ROW,
  id: 'changeToken',
  method: 'PATCH',
  path: '/account/tokens/:tokenId',
  summary: 'Changes name, limits, rights or places of a token, or disables it.',
  body: { kind: 'json', schema: CHANGE_TOKEN, bytesMax: GRANTS_BYTES_MAX },
  handle: (call, services) =>
    changeOwnToken(parseTokenSettings(call.json as Static<typeof CHANGE_TOKEN>), call, services),
};

async function changeOwnToken(
  settings: Partial<TokenSettings>,
  call: Call,
  services: TokensServices,
): Promise<Answer> {
  const { accountId, tokenId } = requireManager(call.caller);
  refuseSelfDisable(call.path['tokenId'] === tokenId, settings);
  return freeAnswer(await updateToken(accountId, settings, call, services));
}

export const rotateToken: Endpoint = {
  ...ROW,
  id: 'rotateToken',
  method: 'POST',
  path: '/account/tokens/:tokenId/rotate',
  summary:
    'Rotates a token: only this answer shows the new text; the old one stops working immediately.',
  handle: async (call, services) =>
    freeAnswer(await reissueToken(requireManager(call.caller).accountId, call, services)),
};

export const disableToken: Endpoint = {
  ...ROW,
  id: 'disableToken',
  method: 'DELETE',
  path: '/account/tokens/:tokenId',
  summary: 'Disables a token; it can be enabled again.',
  handle: (call, services) => changeOwnToken({ disabled: true }, call, services),
};
