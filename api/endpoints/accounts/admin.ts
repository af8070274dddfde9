// Operator endpoints: accounts, their tokens, the audit log, checks and backups. Only the admin token may
// use them; the command line uses them too.
import type { Static } from 'typebox';
import { GRANTS_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { makeBackup } from '../../../jobs/backup/backup.ts';
import { saveLastBackup } from '../../../jobs/backup/lastBackup.ts';
import { healFiles } from '../../../jobs/upkeep/heal.ts';
import { readHealth } from '../../../jobs/upkeep/health.ts';
import { verifyLedger } from '../../../jobs/upkeep/verifyLedger.ts';
import type { Account, AccountSettings } from '../../../store/accounts/accountRows.ts';
import { readAudit } from '../../../store/accounts/audit.ts';
import { Failure } from '../../../store/base/failure.ts';
import { TIER_NAMES } from '../../../store/accounts/tiers.ts';
import { rotateLive } from '../../../store/work/keyRotation.ts';
import { readUsage } from '../../../store/ledger/usage.ts';
import type { OpenCall, OpenEndpoint, Services } from '../../request/endpoint.ts';
import { toFreeAnswer } from '../../request/rows.ts';
import { numberOf, textOf } from '../../../reads/request/parameters.ts';
import { issueToken, reissueToken, updateToken } from '../../auth/tokenActions.ts';
import { CHANGE_TOKEN, CREATE_TOKEN, parseTokenSettings } from '../../auth/tokenBody.ts';
import { tokenView } from '../../auth/tokenView.ts';

const ANY = Type.Object({}, { additionalProperties: true });

const ROW = {
  token: 'admin',
  weight: 'free',
  parameters: [],
  answer: ANY,
  failures: 'workspace',
} as const satisfies Partial<OpenEndpoint>;

const MESSAGES_MAX = 1_000_000_000_000;
const count = Type.Integer({ minimum: 0, maximum: MESSAGES_MAX });
const countOrNone = Type.Optional(Type.Union([count, Type.Null()]));
const label = Type.String({ minLength: 1, maxLength: 200 });
const tier = Type.Enum([...TIER_NAMES]);

const CREATE = Type.Object({ name: label, tier }, { additionalProperties: false });

const CHANGE = Type.Object(
  {
    name: Type.Optional(label),
    tier: Type.Optional(tier),
    payAsYouGo: Type.Optional(Type.Boolean()),
    suspended: Type.Optional(Type.Boolean()),
    circuitBreaker: countOrNone,
    budget: countOrNone,
    ceiling: countOrNone,
    premiumMessages: Type.Optional(count),
    grants: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 1_000 })),
  },
  { additionalProperties: false },
);

const findAccount = (call: OpenCall, { accounts }: Pick<Services, 'accounts'>): Account => {
  const account = accounts.account(call.path['accountId'] ?? '');
  if (account === undefined) throw new Failure('NotFound');
  return account;
};

function accountView(account: Account, { ledger }: Pick<Services, 'ledger'>): object {
  const {
    tier: accountTier,
    circuitBreaker,
    budget,
    ceiling,
    defaultWorkspace,
    createdMs,
    ...rest
  } = account;
  return {
    ...rest,
    tier: accountTier.name,
    circuitBreaker: circuitBreaker ?? null,
    // The operator's limit under both names; `ownBudget` is the account's own limit.
    budget: ceiling ?? null,
    ceiling: ceiling ?? null,
    ownBudget: budget ?? null,
    defaultWorkspace: defaultWorkspace ?? null,
    messageLimit: accountTier.messagesMonthly,
    messagesUsed: ledger.balance(account.accountId).used,
    premiumMessagesUsed: ledger.premiumBalance(account.accountId).used,
    created: createdMs,
  };
}

export const listAccounts: OpenEndpoint = {
  ...ROW,
  id: 'listAccounts',
  method: 'GET',
  path: '/admin/accounts',
  summary: 'All accounts with what they may do and have used this month.',
  answer: Type.Array(ANY),
  handle: async (_call, services) => {
    await services.ledger.collectReports();
    return toFreeAnswer(services.accounts.list().map((account) => accountView(account, services)));
  },
};

export const createAccount: OpenEndpoint = {
  ...ROW,
  id: 'createAccount',
  method: 'POST',
  path: '/admin/accounts',
  summary: 'Creates an account with its two test tokens.',
  body: { kind: 'json', schema: CREATE, bytesMax: GRANTS_BYTES_MAX },
  handle: async (call, services) => {
    const { name, tier: accountTier } = call.json as Static<typeof CREATE>;
    const accountId = await services.accounts.createAccount(name, accountTier, call.actor);
    const account = services.accounts.account(accountId);
    return toFreeAnswer(account === undefined ? {} : accountView(account, services));
  },
};

export const getAccount: OpenEndpoint = {
  ...ROW,
  id: 'getAccount',
  method: 'GET',
  path: '/admin/accounts/:accountId',
  summary: 'One account with its tokens; secret ones by their last four characters.',
  handle: async (call, services) => {
    const account = findAccount(call, services);
    const tokens = await services.accounts.tokens(account.accountId);
    const views = tokens.map((one) => tokenView(one, false));
    await services.ledger.collectReports();
    return toFreeAnswer({ ...accountView(account, services), tokens: views });
  },
};

export const changeAccount: OpenEndpoint = {
  ...ROW,
  id: 'changeAccount',
  method: 'PATCH',
  path: '/admin/accounts/:accountId',
  summary: 'Sets tier, pay-as-you-go, circuit breaker, budget, premium messages, grants; suspends.',
  body: { kind: 'json', schema: CHANGE, bytesMax: GRANTS_BYTES_MAX },
  handle: async (call, services) => {
    const { accountId } = findAccount(call, services);
    const changes = toSettings(call.json as Static<typeof CHANGE>);
    const account = await services.accounts.changeAccount(accountId, changes, call.actor);
    await services.ledger.collectReports();
    return toFreeAnswer(accountView(account, services));
  },
};

function toSettings(body: Static<typeof CHANGE>): Partial<AccountSettings> {
  const { circuitBreaker, budget, ceiling = budget, ...plain } = body;
  return {
    ...plain,
    ...(circuitBreaker === undefined ? {} : { circuitBreaker: circuitBreaker ?? undefined }),
    ...(ceiling === undefined ? {} : { ceiling: ceiling ?? undefined }),
  };
}

export const getAccountUsage: OpenEndpoint = {
  ...ROW,
  id: 'getAccountUsage',
  method: 'GET',
  path: '/admin/accounts/:accountId/usage',
  summary: 'What an account used this month: in all, by day, by token id, by usage key.',
  handle: async (call, services) => {
    const { accountId } = findAccount(call, services);
    const { database, days, ledger } = services;
    await ledger.flushAll();
    const usage = await readUsage(database, accountId, days, ledger.timeMs());
    return toFreeAnswer({
      messages: usage.month,
      premiumMessages: usage.premium,
      byDay: Object.fromEntries(usage.byDay),
      byToken: Object.fromEntries(usage.byToken),
      byKey: Object.fromEntries(usage.byKey),
    });
  },
};

export const listAccountTokens: OpenEndpoint = {
  ...ROW,
  id: 'listAccountTokens',
  method: 'GET',
  path: '/admin/accounts/:accountId/tokens',
  summary: 'The tokens of an account; secret ones by their last four characters.',
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const tokens = await services.accounts.tokens(findAccount(call, services).accountId);
    return toFreeAnswer(tokens.map((token) => tokenView(token, false)));
  },
};

export const createAccountToken: OpenEndpoint = {
  ...ROW,
  id: 'createAccountToken',
  method: 'POST',
  path: '/admin/accounts/:accountId/tokens',
  summary: 'Creates a token of an account; only this answer shows it in full.',
  body: { kind: 'json', schema: CREATE_TOKEN, bytesMax: GRANTS_BYTES_MAX },
  handle: async (call, services) =>
    toFreeAnswer(await issueToken(findAccount(call, services).accountId, call, services)),
};

export const changeAccountToken: OpenEndpoint = {
  ...ROW,
  id: 'changeAccountToken',
  method: 'PATCH',
  path: '/admin/accounts/:accountId/tokens/:tokenId',
  summary: 'Changes name, limits, rights or places of a token, or disables it.',
  body: { kind: 'json', schema: CHANGE_TOKEN, bytesMax: GRANTS_BYTES_MAX },
  handle: async (call, services) => {
    const { accountId } = findAccount(call, services);
    const settings = parseTokenSettings(call.json as Static<typeof CHANGE_TOKEN>);
    return toFreeAnswer(await updateToken(accountId, settings, call, services));
  },
};

export const rotateAccountToken: OpenEndpoint = {
  ...ROW,
  id: 'rotateAccountToken',
  method: 'POST',
  path: '/admin/accounts/:accountId/tokens/:tokenId/rotate',
  summary:
    'Rotates a token: only this answer shows the new text; the old one stops working immediately.',
  handle: async (call, services) =>
    toFreeAnswer(await reissueToken(findAccount(call, services).accountId, call, services)),
};

const ENTRIES_DEFAULT = 100;
const ENTRIES_MAX = 10_000;

export const getAudit: OpenEndpoint = {
  ...ROW,
  id: 'getAudit',
  method: 'GET',
  path: '/admin/audit',
  summary: 'Changes of accounts and tokens and who made them, newest first.',
  parameters: [
    { kind: 'text', name: 'accountId', help: 'Only entries of this account.' },
    { kind: 'integer', name: 'limit', least: 1, most: ENTRIES_MAX, help: 'At most n entries.' },
  ],
  answer: Type.Array(ANY),
  handle: async (call, { database }) => {
    const limit = numberOf(call.query, 'limit') ?? ENTRIES_DEFAULT;
    return toFreeAnswer(await readAudit(database, textOf(call.query, 'accountId'), limit));
  },
};

export const verify: OpenEndpoint = {
  ...ROW,
  id: 'verifyLedger',
  method: 'GET',
  path: '/admin/verify-ledger',
  summary: 'Recomputes every charge from the journal and reports differences.',
  handle: async (_call, { journal, ledger }) => {
    await ledger.flushAll();
    return toFreeAnswer(await verifyLedger(journal, ledger));
  },
};

export const verifyFiles: OpenEndpoint = {
  ...ROW,
  id: 'verifyFiles',
  method: 'GET',
  path: '/admin/verify-files',
  summary:
    'Reads every file, of the lake and published, and lists those that differ from what was written.',
  handle: async (_call, { fileCheck }) => toFreeAnswer(await fileCheck.checkAll()),
};

const HEAL = Type.Object(
  { from: Type.String({ minLength: 1, maxLength: 4_096 }) },
  { additionalProperties: false },
);

export const heal: OpenEndpoint = {
  ...ROW,
  id: 'healFiles',
  method: 'POST',
  path: '/admin/heal',
  summary: 'Replaces damaged files of the lake by those of a backup.',
  body: { kind: 'json', schema: HEAL },
  handle: async (call, { disk, fileCheck, folder, lake: { files } }) => {
    const { from } = call.json as Static<typeof HEAL>;
    return toFreeAnswer(await healFiles(from, { fileCheck, files, disk, folder }));
  },
};

const BACKUP = Type.Object(
  {
    target: Type.String({ minLength: 1, maxLength: 4_096 }),
    withoutKey: Type.Optional(Type.Boolean()),
    copy: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const backUp: OpenEndpoint = {
  ...ROW,
  id: 'makeBackup',
  method: 'POST',
  path: '/admin/backup',
  summary: 'Backs up the data folder into a folder of the server, or brings that up to now.',
  body: { kind: 'json', schema: BACKUP },
  handle: async (call, services) => {
    const { target, withoutKey = false, copy = false } = call.json as Static<typeof BACKUP>;
    const { actor } = call;
    const signal = call.departure();
    const backup = await makeBackup({ target, withoutKey, copy, actor, signal }, services);
    const { clock, database } = services;
    await saveLastBackup(database, { made: clock(), target: backup.target });
    return toFreeAnswer(backup);
  },
};

export const rotateDataKey: OpenEndpoint = {
  ...ROW,
  id: 'rotateDataKey',
  method: 'POST',
  path: '/admin/rotate-key',
  summary:
    'Seals tokens, credentials, webhooks and rules under a new data key, while all is served.',
  handle: async (_call, { accounts, database, folder, secrets, settings }) => {
    if (settings.encryptionKey !== '') {
      const rule = 'stop the server, tapedeck rotate-key, and start it with the new one';
      throw new Failure('Conflict', `the data key is a setting, TAPEDECK_ENCRYPTION_KEY: ${rule}`);
    }
    return toFreeAnswer(await rotateLive({ accounts, database, path: folder.key, secrets }));
  },
};

export const getOperatorStatus: OpenEndpoint = {
  ...ROW,
  id: 'getStanding',
  method: 'GET',
  path: '/admin/status',
  summary: 'What is wrong and what to do about it; schedules, jobs, storage, ledger, backups.',
  handle: async (_call, services) => toFreeAnswer(await readHealth(services)),
};
