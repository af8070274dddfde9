// Renders a token for its owner.
import type { Accounts, TokenWithText } from '../../store/accounts/accounts.ts';
import { PREFIXES } from '../../store/accounts/tokens.ts';

/** Masks a secret token except for its last four characters (DESIGN.md "Secrets"). */
const maskToken = ({ kind, test, text }: TokenWithText): string =>
  kind === 'publishable' ? text : `${test ? 'T' : ''}${PREFIXES[kind]}…${text.slice(-4)}`;

/**
 * Unique names of tokens by `tokenId`: the text of a publishable token, the last four characters of a secret
 * one, or its id if another one has the same ending.
 */
export function tokenNames(tokens: readonly TokenWithText[]): ReadonlyMap<string, string> {
  const byText = Map.groupBy(tokens, maskToken);
  return new Map(
    tokens.map((token) => {
      const text = maskToken(token);
      return [token.tokenId, byText.get(text)?.length === 1 ? text : token.tokenId];
    }),
  );
}

/** `isRevealed` shows a secret token in full: only in the answer that created it. */
export const tokenView = (
  token: TokenWithText,
  isRevealed: boolean,
): Readonly<Record<string, unknown>> => ({
  tokenId: token.tokenId,
  token: isRevealed ? token.text : maskToken(token),
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

/** A token with its new text and, if it is signed, its new secret, which no other answer contains. */
export function rotatedView(
  token: TokenWithText,
  accounts: Accounts,
): Readonly<Record<string, unknown>> {
  const secret = accounts.signingSecret(token.text);
  return { ...tokenView(token, true), ...(secret === undefined ? {} : { secret }) };
}
