// Names of tokens in usage: no two are the same.
import { expect, test } from 'vitest';
import { tokenNames } from '../../../api/auth/tokenView.ts';
import type { TokenWithText } from '../../../store/accounts/accounts.ts';

test('secret tokens that end alike are named by their ids, all of them', () => {
  const token = (tokenId: string, kind: 'publishable' | 'secret', text: string): TokenWithText =>
    ({ tokenId, kind, text, test: false }) as unknown as TokenWithText;
  const tokens = [
    token('one', 'secret', 'sk_aaaa1234'),
    token('two', 'secret', 'sk_bbbb1234'),
    token('three', 'secret', 'sk_cccc9999'),
    token('four', 'publishable', 'pk_dddd1234'),
  ];
  expect(Object.fromEntries(tokenNames(tokens))).toEqual({
    one: 'one',
    two: 'two',
    three: 'sk_…9999',
    four: 'pk_dddd1234',
  });
});
