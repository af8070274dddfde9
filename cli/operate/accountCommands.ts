// How the operator's commands are spelled.
import { type Command, Option } from 'commander';
import type { Settings } from '../../store/base/settings.ts';
import { TIER_NAMES } from '../../store/accounts/tiers.ts';
import {
  accountUsage,
  type AccountOptions,
  changeAccount,
  createAccount,
  createToken,
  endToken,
  listAccounts,
  showAudit,
  type TokenOptions,
  verifyLedger,
} from './accounts.ts';

interface JsonOption {
  readonly json?: boolean;
}

const tier = (): Option =>
  new Option('--tier <name>', 'what the account may do').choices(TIER_NAMES);
const onOff = (flag: string, help: string): Option => new Option(flag, help).choices(['on', 'off']);

export function addAccounts(root: Command, settings: () => Settings): void {
  const account = root.command('account').description('accounts of the data folder');
  account
    .command('list', { isDefault: true })
    .description('accounts with their tier and what they used this month')
    .option('--json', 'answer JSON lines')
    .action((options: JsonOption) => listAccounts(options, settings()));
  account
    .command('create <name>')
    .description('make an account with its two test tokens')
    .addOption(tier().default('free'))
    .option('--json', 'answer JSON lines')
    .action((name: string, options: JsonOption & { readonly tier: string }) =>
      createAccount(name, options, settings()),
    );
  account
    .command('set <accountId>')
    .description('change what an account may do')
    .addOption(tier())
    .addOption(onOff('--pay-as-you-go <on|off>', 'messages above the quota'))
    .addOption(onOff('--suspended <on|off>', 'refuse every call of the account'))
    .option('--circuit-breaker <n>', 'pay-as-you-go messages at which all calls stop, or none')
    .option('--budget <n>', 'messages of a month at which all calls stop, or none')
    .option('--premium-messages <n>', 'premium messages of a month; 0: no premium data')
    .option('--grant <dataset...>', 'restricted datasets of CORE that it may read: all of them')
    .option('--json', 'answer JSON lines')
    .action((accountId: string, options: AccountOptions) =>
      changeAccount(accountId, options, settings()),
    );
  account
    .command('usage <accountId>')
    .description('what an account used this month, as JSON')
    .action((accountId: string) => accountUsage(accountId, settings()));
}

export function addTokenChanges(tokens: Command, settings: () => Settings): void {
  const kinds = new Option('--kind <kind>', 'kind of token').choices(['publishable', 'secret']);
  tokens
    .command('create')
    .description('make a token and print it')
    .addOption(kinds.default('publishable'))
    .option('--account <accountId>', 'account; the first one by default')
    .option('--name <name>', 'what it is for')
    .option('--limit <n>', 'messages that it may use in a month')
    .option('--grant <datasets=rights...>', 'rights on datasets, such as DEMO.*=read,write')
    .option('--json', 'answer JSON lines')
    .action((options: TokenOptions) => createToken(options, settings()));
  for (const how of ['rotate', 'disable'] as const) {
    tokens
      .command(`${how} <tokenId>`)
      .description(how === 'rotate' ? 'a new text; the old one ends at once' : 'refuse it')
      .option('--account <accountId>', 'account; the first one by default')
      .option('--json', 'answer JSON lines')
      .action((tokenId: string, options: JsonOption & { readonly account?: string }) =>
        endToken(how, tokenId, options, settings()),
      );
  }
}

export function addBooks(root: Command, settings: () => Settings): void {
  root
    .command('audit')
    .description('who changed what about accounts and tokens')
    .option('--account <accountId>', 'only what concerns this account')
    .option('--limit <n>', 'the newest n entries', '100')
    .option('--json', 'answer JSON lines')
    .action((options: JsonOption & { readonly account?: string; readonly limit: string }) =>
      showAudit(options, settings()),
    );
  root
    .command('verify-ledger')
    .description('recompute every charge from the journal; status 1 when something disagrees')
    .option('--json', 'answer JSON')
    .action((options: JsonOption) => verifyLedger(options, settings()));
}
