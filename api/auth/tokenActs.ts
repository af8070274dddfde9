// Making, changing and rotating a token of an account: what its owner and the operator do alike.
import type { Static } from 'typebox';
import type { TokenSettings } from '../../store/accounts/tokens.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { CREATE_TOKEN, settingsOf } from './tokenBody.ts';
import { rotatedView, tokenView } from './tokenView.ts';

type Shown = Readonly<Record<string, unknown>>;

/** The token of the call's body; shown whole this once. */
export async function makeToken(
  accountId: string,
  { actor, json }: Call,
  { accounts }: Pick<Services, 'accounts'>,
): Promise<Shown> {
  const { kind, ...settings } = json as Static<typeof CREATE_TOKEN>;
  return tokenView(await accounts.createToken(accountId, kind, settingsOf(settings), actor), true);
}

/** The token of the call's path. @throws Failure NotFound when the account has no such token. */
export async function setToken(
  accountId: string,
  settings: Partial<TokenSettings>,
  { actor, path }: Call,
  { accounts }: Pick<Services, 'accounts'>,
): Promise<Shown> {
  const { tokenId = '' } = path;
  return tokenView(await accounts.changeToken(accountId, tokenId, settings, actor), false);
}

/** A new text for the token of the call's path; shown whole this once. @throws Failure NotFound. */
export async function renewToken(
  accountId: string,
  { actor, path }: Call,
  { accounts }: Pick<Services, 'accounts'>,
): Promise<Shown> {
  const { tokenId = '' } = path;
  return rotatedView(await accounts.rotateToken(accountId, tokenId, actor), accounts);
}
