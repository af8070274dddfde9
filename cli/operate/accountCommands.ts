// Declares the operator's commands for accounts.
import { type Command, Option } from 'commander';
import type { Settings } from '../../store/base/settings/settings.ts';
import { TIER_NAMES } from '../../store/accounts/tiers.ts';
import type { AccountOptions, TokenOptions } from './accounts.ts';
import type { Terminal } from '../connect/terminal.ts';

interface JsonOption {
  readonly json?: boolean;
}

const tier = (): Option => new Option('--tier <name>', 'tier of the account').choices(TIER_NAMES);
const onOff = (flag: string, help: string): Option => new Option(flag, help).choices(['on', 'off']);

export function addAccounts(root: Command, settings: () => Settings, terminal: Terminal): void {
  const account = root.command('account').description('accounts of the data folder');
  account
    .command('list', { isDefault: true })
    .description('list accounts with their tier and their usage this month')
    .option('--json', 'print JSON lines')
    .action(async (options: JsonOption) =>
      (await import('./accounts.ts')).listAccounts(options, settings(), terminal),
    );
  account
    .command('create <name>')
    .description('create an account with its two test tokens')
    .addOption(tier().default('free'))
    .option('--json', 'print JSON lines')
    .action(async (name: string, options: JsonOption & { readonly tier: string }) =>
      (await import('./accounts.ts')).createAccount(name, options, settings(), terminal),
    );
  account
    .command('set <accountId>')
    .description('change the tier, the limits or the grants of an account')
    .addOption(tier())
    .addOption(onOff('--pay-as-you-go <on|off>', 'allow messages above the quota'))
    .addOption(onOff('--suspended <on|off>', 'refuse all calls of the account'))
    .option('--circuit-breaker <n>', 'pay-as-you-go messages at which all calls stop, or none')
    .option(
      '--budget <n>',
      'messages of a month at which all calls stop, or none; the account cannot move it',
    )
    .option('--premium-messages <n>', 'premium messages in a month; 0 means no premium data')
    .option(
      '--grant <dataset...>',
      'restricted datasets of CORE that it may read; replaces the former list',
    )
    .option('--json', 'print JSON lines')
    .action(async (accountId: string, options: AccountOptions) =>
      (await import('./accounts.ts')).changeAccount(accountId, options, settings(), terminal),
    );
  account
    .command('usage <accountId>')
    .description('show the usage of an account this month, as JSON')
    .action(async (accountId: string) =>
      (await import('./accounts.ts')).accountUsage(accountId, settings(), terminal),
    );
}

export function addTokenChanges(
  tokens: Command,
  settings: () => Settings,
  terminal: Terminal,
): void {
  const kinds = new Option('--kind <kind>', 'kind of token').choices(['publishable', 'secret']);
  tokens
    .command('create')
    .description('create a token and print it')
    .addOption(kinds.default('publishable'))
    .option('--account <accountId>', 'account; the first one by default')
    .option('--name <name>', 'name of the token')
    .option('--limit <n>', 'most messages that it may use in a month')
    .option('--grant <datasets=rights...>', 'rights on datasets, such as DEMO.*=read,write')
    .option('--json', 'print JSON lines')
    .action(async (options: TokenOptions) =>
      (await import('./accounts.ts')).createToken(options, settings(), terminal),
    );
  for (const how of ['rotate', 'disable'] as const) {
    tokens
      .command(`${how} <tokenId>`)
      .description(
        how === 'rotate'
          ? 'replace the text of a token; the old one stops working immediately'
          : 'disable a token',
      )
      .option('--account <accountId>', 'account; the first one by default')
      .option('--json', 'print JSON lines')
      .action(async (tokenId: string, options: JsonOption & { readonly account?: string }) =>
        (await import('./accounts.ts')).endToken(how, tokenId, options, settings(), terminal),
      );
  }
}

export function addBooks(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('audit')
    .description('list changes of accounts and tokens, and who made them')
    .option('--account <accountId>', 'only changes of this account')
    .option('--limit <n>', 'number of entries, newest first', '100')
    .option('--json', 'print JSON lines')
    .action(async (options: JsonOption & { readonly account?: string; readonly limit: string }) =>
      (await import('./accounts.ts')).showAudit(options, settings(), terminal),
    );
  root
    .command('verify-ledger')
    .description('recompute every charge from the journal; exits with 1 if anything disagrees')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) =>
      (await import('./accounts.ts')).verifyLedger(options, settings(), terminal),
    );
}
