// Bodies that create and change tokens, and the rules that JSON schema can't express.
import type { Static } from 'typebox';
import { matching, Type } from '../../reads/request/schema.ts';
import type { Grant, TokenSettings } from '../../store/accounts/tokens.ts';
import { Failure } from '../../store/base/failure.ts';
import { parseAddresses } from '../../store/base/addresses.ts';
import { parseReferrers } from './referrer.ts';

/** `*`, `WORKSPACE.*` or `WORKSPACE.DATASET`. */
const DATASETS = /^(\*|\w{1,128}\.(\*|\w{1,128}))$/u;
const DATASETS_RULE =
  '*, WORKSPACE.* or WORKSPACE.DATASET, such as DEMO.PRICES; rights are named beside it';

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const SETTINGS = {
  name: Type.Optional(Type.String({ maxLength: 200 })),
  disabled: Type.Optional(Type.Boolean()),
  messageLimit: nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 })),
  grants: nullable(
    Type.Array(
      Type.Object(
        {
          datasets: Type.String(matching(DATASETS, DATASETS_RULE)),
          rights: Type.Array(Type.Enum(['read', 'write', 'delete']), { minItems: 1, maxItems: 3 }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 1_000 },
    ),
  ),
  core: Type.Optional(Type.Boolean()),
  premium: Type.Optional(Type.Boolean()),
  addresses: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100 })),
  referrers: Type.Optional(Type.String({ maxLength: 13_000 })),
  refuseReplays: Type.Optional(Type.Boolean()),
  fullSignatures: Type.Optional(Type.Boolean()),
};

export const CREATE_TOKEN = Type.Object(
  { kind: Type.Enum(['publishable', 'secret']), ...SETTINGS },
  { additionalProperties: false },
);
export const CHANGE_TOKEN = Type.Object(SETTINGS, { additionalProperties: false });

/** @throws Failure InvalidBody naming the member and its rule. */
export function parseTokenSettings(body: Static<typeof CHANGE_TOKEN>): Partial<TokenSettings> {
  const { messageLimit, grants, addresses, referrers, ...plain } = body;
  if (addresses !== undefined) parseAddresses(addresses);
  return {
    ...plain,
    ...(messageLimit === undefined ? {} : { messageLimit: messageLimit ?? undefined }),
    ...(grants === undefined ? {} : { grants: (grants as readonly Grant[] | null) ?? undefined }),
    ...(addresses === undefined ? {} : { addresses }),
    ...(referrers === undefined ? {} : { referrers: parseReferrers(referrers) }),
  };
}

/** Refuses that a token disables itself. @throws Failure InvalidBody. */
export function refuseSelfDisable(isOwnToken: boolean, settings: Partial<TokenSettings>): void {
  if (!isOwnToken || settings.disabled !== true) return;
  throw new Failure(
    'InvalidBody',
    'disabled must not be set with the token itself: use another one',
  );
}
