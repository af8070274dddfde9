// `tapedeck account`, `tokens create|rotate|disable`, `audit`, `verify-ledger`.
import type { LedgerVerdict } from '../../jobs/upkeep/verifyLedger.ts';
import type { AuditLine } from '../../store/accounts/audit.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { withAdmin } from '../connect/adminApi.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { WHOLE_NUMBER_RULE } from '../../store/base/valueRules.ts';

interface JsonOption {
  readonly json?: boolean;
}

interface AccountView {
  readonly accountId: string;
  readonly name: string;
  readonly tier: string;
  readonly suspended: boolean;
  readonly messagesUsed: number;
  readonly messageLimit: number;
}

const accountLine = (account: AccountView): string => {
  const used = `${account.messagesUsed} of ${account.messageLimit} messages`;
  const state = account.suspended ? ', suspended' : '';
  return `${account.accountId}  ${account.tier.padEnd(7)} ${account.name}: ${used}${state}`;
};

const show = <T extends object>(
  value: T,
  { json }: JsonOption,
  terminal: Terminal,
  line: (value: T) => string,
): void => printTo(terminal)(json === true ? JSON.stringify(value) : line(value));

export const listAccounts = (
  options: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const accounts = (await call('GET', '/accounts')) as readonly AccountView[];
    for (const account of accounts) show(account, options, terminal, accountLine);
  });

export const createAccount = (
  name: string,
  { tier, ...options }: JsonOption & { readonly tier: string },
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    show(
      (await call('POST', '/accounts', { name, tier })) as AccountView,
      options,
      terminal,
      accountLine,
    );
  });

export interface AccountOptions extends JsonOption {
  readonly tier?: string;
  readonly payAsYouGo?: 'on' | 'off';
  readonly suspended?: 'on' | 'off';
  readonly circuitBreaker?: string;
  readonly budget?: string;
  readonly premiumMessages?: string;
  readonly grant?: readonly string[];
}

export const changeAccount = (
  accountId: string,
  options: AccountOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const { tier, payAsYouGo, suspended, circuitBreaker, budget, premiumMessages, grant } = options;
    const body = {
      ...(tier === undefined ? {} : { tier }),
      ...(payAsYouGo === undefined ? {} : { payAsYouGo: payAsYouGo === 'on' }),
      ...(suspended === undefined ? {} : { suspended: suspended === 'on' }),
      ...(circuitBreaker === undefined
        ? {}
        : { circuitBreaker: numberOrNone('--circuit-breaker', circuitBreaker) }),
      ...(budget === undefined ? {} : { ceiling: numberOrNone('--budget', budget) }),
      ...(premiumMessages === undefined
        ? {}
        : { premiumMessages: parseCount('--premium-messages', premiumMessages) }),
      ...(grant === undefined ? {} : { grants: grant }),
    };
    const path = `/accounts/${encodeURIComponent(accountId)}`;
    show((await call('PATCH', path, body)) as AccountView, options, terminal, accountLine);
  });

const numberOrNone = (name: string, text: string): number | null =>
  text === 'none' ? null : parseCount(name, text);

/** @throws Failure InvalidParameter: JSON would turn an invalid number into null */
function parseCount(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Failure('InvalidParameter', `${name} ${WHOLE_NUMBER_RULE}`);
}

export const accountUsage = (
  accountId: string,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const usage = await call('GET', `/accounts/${encodeURIComponent(accountId)}/usage`);
    printTo(terminal)(JSON.stringify(usage, undefined, 2));
  });

export interface TokenOptions extends JsonOption {
  readonly kind: 'publishable' | 'secret';
  readonly account?: string;
  readonly name?: string;
  readonly limit?: string;
  /** `DATASETS=right,right`, as `DEMO.*=read`. */
  readonly grant?: readonly string[];
}

interface TokenView {
  readonly tokenId: string;
  readonly kind: string;
  readonly token: string;
}

const tokenLine = ({ tokenId, kind, token }: TokenView): string =>
  `${kind.padEnd(12)} ${token}  (id ${tokenId})`;

export const createToken = (
  options: TokenOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const { kind, name, limit, grant } = options;
    const accountId = options.account ?? (await firstAccount(call));
    const body = {
      kind,
      ...(name === undefined ? {} : { name }),
      ...(limit === undefined ? {} : { messageLimit: parseCount('--limit', limit) }),
      ...(grant === undefined ? {} : { grants: grant.map(parseGrant) }),
    };
    const path = `/accounts/${encodeURIComponent(accountId)}/tokens`;
    show((await call('POST', path, body)) as TokenView, options, terminal, tokenLine);
  });

/** @throws Failure InvalidParameter with an example. */
function parseGrant(text: string): object {
  const [, datasets, rights = ''] = /^([^=]+)=([a-z]+(?:,[a-z]+)*)$/.exec(text) ?? [];
  if (datasets !== undefined) return { datasets, rights: rights.split(',') };
  const rule = 'datasets=rights, such as *=read for all datasets or DEMO.PRICES=read,write for one';
  throw new Failure('InvalidParameter', `--grant ${text}: must be ${rule}`);
}

type CallAdmin = Parameters<Parameters<typeof withAdmin>[1]>[0];

async function firstAccount(call: CallAdmin): Promise<string> {
  const [first] = (await call('GET', '/accounts')) as readonly AccountView[];
  return first?.accountId ?? '';
}

export const endToken = (
  how: 'rotate' | 'disable',
  tokenId: string,
  { account, ...options }: JsonOption & { readonly account?: string },
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const accountId = account ?? (await firstAccount(call));
    const path = `/accounts/${encodeURIComponent(accountId)}/tokens/${encodeURIComponent(tokenId)}`;
    const answer =
      how === 'rotate'
        ? await call('POST', `${path}/rotate`)
        : await call('PATCH', path, { disabled: true });
    show(answer as TokenView, options, terminal, tokenLine);
  });

export const showAudit = (
  {
    account,
    limit,
    ...options
  }: JsonOption & { readonly account?: string; readonly limit: string },
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const of = account === undefined ? '' : `&accountId=${encodeURIComponent(account)}`;
    const lines = (await call(
      'GET',
      `/audit?limit=${encodeURIComponent(limit)}${of}`,
    )) as readonly AuditLine[];
    for (const one of lines.toReversed()) {
      show(
        one,
        options,
        terminal,
        ({ timeMs, actor, accountId, action, detail }) =>
          `${new Date(timeMs).toISOString()}  ${actor}  ${accountId}  ${action} ${JSON.stringify(detail)}`,
      );
    }
  });

/** Exits with 1 if something disagrees. */
export const verifyLedger = (
  options: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const verdict = (await call('GET', '/verify-ledger')) as LedgerVerdict;
    if (verdict.faults.length > 0) terminal.endWith(1);
    show(verdict, options, terminal, ({ calls, messages, premium, faults }) => {
      const sums = `${calls} calls, ${messages} messages and ${premium} premium ones recomputed`;
      return [sums, ...(faults.length === 0 ? ['everything agrees'] : faults)].join('\n');
    });
  });
