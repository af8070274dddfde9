// A token as its owner sees it.
import type { Accounts, TokenShown } from '../../store/accounts/accounts.ts';
import { PREFIXES } from '../../store/accounts/tokens.ts';

/** A secret token is told by its last four characters only (DESIGN.md "Secrets"). */
const tokenShown = ({ kind, test, text }: TokenShown): string =>
  kind === 'publishable' ? text : `${test ? 'T' : ''}${PREFIXES[kind]}…${text.slice(-4)}`;

/**
 * Names of tokens that are all different: the text of a publishable token, the last four characters of a
 * secret one, or its id where another one ends alike. By `tokenId`.
 */
export function tokenNames(tokens: readonly TokenShown[]): ReadonlyMap<string, string> {
  const byText = Map.groupBy(tokens, tokenShown);
  return new Map(
    tokens.map((token) => {
      const text = tokenShown(token);
      return [token.tokenId, byText.get(text)?.length === 1 ? text : token.tokenId];
    }),
  );
}

/** `whole` shows a secret token: once, when it was made. */
export const tokenView = (
  token: TokenShown,
  whole: boolean,
): Readonly<Record<string, unknown>> => ({
  tokenId: token.tokenId,
  token: whole ? token.text : tokenShown(token),
  kind: token.kind,
  test: token.test,
  name: token.name,
  disabled: token.disabled,
  signed: token.signed,
  messageLimit: token.messageLimit ?? null,
  grants: token.grants ?? null,
  core: token.core,
  premium: token.premium,
  addresses: token.addresses,
  referrers: token.referrers,
  refuseReplays: token.refuseReplays,
  fullSignatures: token.fullSignatures,
  created: token.createdMs,
  lastUsed: token.lastUsedMs ?? null,
});

/** A token with its new text and, when it is signed, its new secret: nothing else may tell it. */
export function rotatedView(
  token: TokenShown,
  accounts: Accounts,
): Readonly<Record<string, unknown>> {
  const secret = accounts.signingSecret(token.text);
  return { ...tokenView(token, true), ...(secret === undefined ? {} : { secret }) };
}
