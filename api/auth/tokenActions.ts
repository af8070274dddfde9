// Creates, changes and rotates tokens of an account, for its owner and the operator.
import type { Static } from 'typebox';
import type { TokenSettings } from '../../store/accounts/tokens.ts';
import type { OpenCall, Services } from '../request/endpoint.ts';
import { CREATE_TOKEN, parseTokenSettings } from './tokenBody.ts';
import { rotatedView, tokenView } from './tokenView.ts';

type TokenAnswer = Readonly<Record<string, unknown>>;

/** Creates the token of the call's body; the only answer with its full text. */
export async function issueToken(
  accountId: string,
  { actor, json }: OpenCall,
  { accounts }: Pick<Services, 'accounts'>,
): Promise<TokenAnswer> {
  const { kind, ...settings } = json as Static<typeof CREATE_TOKEN>;
  return tokenView(
    await accounts.createToken(accountId, kind, parseTokenSettings(settings), actor),
    true,
  );
}

/** Changes the token of the call's path. @throws Failure NotFound if the account has no such token. */
export async function updateToken(
  accountId: string,
  settings: Partial<TokenSettings>,
  { actor, path }: OpenCall,
  { accounts }: Pick<Services, 'accounts'>,
): Promise<TokenAnswer> {
  const { tokenId = '' } = path;
  return tokenView(await accounts.changeToken(accountId, tokenId, settings, actor), false);
}

/** Rotates the token of the call's path; the only answer with its full text. @throws Failure NotFound. */
export async function reissueToken(
  accountId: string,
  { actor, path }: OpenCall,
  { accounts }: Pick<Services, 'accounts'>,
): Promise<TokenAnswer> {
  const { tokenId = '' } = path;
  return rotatedView(await accounts.rotateToken(accountId, tokenId, actor), accounts);
}
