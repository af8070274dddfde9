// Accounts and their tokens. All of them are in memory: telling a caller reads no database. Every
// change is one transaction together with its line of the audit log.
import type { Selectable } from 'kysely';
import {
  type Account,
  accountColumns,
  accountOf,
  type AccountSettings,
  checkTier,
} from './accountRows.ts';
import { type AuditEntry, writeAudit } from './audit.ts';
import { activeCaller, type Caller, type Callers, loadCallers } from './callers.ts';
import type { Clock } from '../base/clock.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { randomHex } from '../base/random.ts';
import {
  insertAccount,
  insertTestTokens,
  insertToken,
  type Making,
  textColumns,
} from './making.ts';
import { oneByOne } from '../queues/oneByOne.ts';
import { QuietChanges } from '../queues/quiet.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import type { ServiceTables } from '../catalog/tables/service.ts';
import {
  DEFAULT_SETTINGS,
  newTokenText,
  READ_ALL,
  settingColumns,
  type Token,
  type TokenKind,
  tokenOf,
  type TokenSettings,
} from './tokens.ts';
import { TokenUses } from './tokenUses.ts';

export interface TokenShown extends Token {
  /** The token itself; whoever may read this may use it. */
  readonly text: string;
}

/** Actor of what the program itself does. */
const SYSTEM = 'system';

export class Accounts {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #clock: Clock;
  #callers: Callers = { accounts: new Map(), byHash: new Map(), byId: new Map() };
  readonly #uses: TokenUses;
  readonly #inTurn = oneByOne();
  readonly changes = new QuietChanges();

  private constructor(database: Database, secrets: Secrets, clock: Clock) {
    this.#database = database;
    this.#secrets = secrets;
    this.#clock = clock;
    this.#uses = new TokenUses(database);
  }

  static async open(database: Database, secrets: Secrets, clock: Clock): Promise<Accounts> {
    const accounts = new Accounts(database, secrets, clock);
    await accounts.reload();
    return accounts;
  }

  /** A token was used at another node. */
  used(tokenId: string, timeMs: number): void {
    this.#uses.add(tokenId, timeMs);
  }

  /** The caller behind a token. @throws Failure InvalidKey, DisabledKey, Inactive. */
  identify(text: string): Caller {
    const caller = activeCaller(this.#callers.byHash.get(this.#secrets.hash(text)));
    this.#uses.add(caller.tokenId, this.#clock());
    return caller;
  }

  /** The secret with which requests of a signed token are signed. */
  signingSecret(text: string): string | undefined {
    return this.#callers.byHash.get(this.#secrets.hash(text))?.signingSecret;
  }

  /** By the token's id. @throws Failure as `identify`. */
  callerOf(tokenId: string): Caller {
    return activeCaller(this.#callers.byId.get(tokenId));
  }

  /** Whom a token stands for, also where it may not act. */
  known(tokenId: string): Caller | undefined {
    return this.#callers.byId.get(tokenId)?.caller;
  }

  account(accountId: string): Account | undefined {
    return this.#callers.accounts.get(accountId);
  }

  /** Oldest first: the first one is the operator's. */
  list(): readonly Account[] {
    return [...this.#callers.accounts.values()];
  }

  /** Makes an account with its two test tokens; its id. */
  async createAccount(name: string, tier: string, actor = SYSTEM): Promise<string> {
    const accountId = await this.#change(actor, async (transaction) => {
      const id = await insertAccount(this.#making(transaction), name, tier);
      return [id, { accountId: id, action: 'create account', detail: { name, tier } }];
    });
    return accountId;
  }

  /** @throws Failure NotFound. */
  async changeAccount(
    accountId: string,
    changes: Partial<AccountSettings>,
    actor = SYSTEM,
  ): Promise<Account> {
    found(this.#callers.accounts.get(accountId));
    if (changes.tier !== undefined) checkTier(changes.tier);
    await this.#change(actor, async (transaction) => {
      // What another change wrote since must stay.
      const row = await transaction
        .selectFrom('account')
        .selectAll()
        .where('account_id', '=', accountId)
        .executeTakeFirstOrThrow();
      const settings = { ...accountOf(row), tier: row.tier, ...changes };
      await transaction
        .updateTable('account')
        .set(accountColumns(settings))
        .where('account_id', '=', accountId)
        .execute();
      return [undefined, { accountId, action: 'change account', detail: { ...changes } }];
    });
    return found(this.#callers.accounts.get(accountId));
  }

  /**
   * Makes a token, or takes the given text as one.
   * @throws Failure LimitReached at the tier's number of tokens.
   */
  async createToken(
    accountId: string,
    kind: TokenKind,
    settings: Partial<TokenSettings> = {},
    actor = SYSTEM,
  ): Promise<TokenShown> {
    const all = { ...DEFAULT_SETTINGS, ...settings };
    const tokenId = await this.#change(actor, async (transaction) => {
      this.#checkRoom(accountId);
      const id = await insertToken(this.#making(transaction), accountId, {
        kind,
        test: false,
        settings: all,
      });
      return [
        id,
        { accountId, action: 'create token', detail: { tokenId: id, kind, ...settings } },
      ];
    });
    return this.#shown(tokenId);
  }

  /** @throws Failure NotFound when the account has no such token. */
  async changeToken(
    accountId: string,
    tokenId: string,
    changes: Partial<TokenSettings>,
    actor = SYSTEM,
  ): Promise<TokenShown> {
    this.token(accountId, tokenId);
    await this.#change(actor, async (transaction) => {
      const { disabled, test } = this.token(accountId, tokenId);
      if (disabled && changes.disabled === false && !test) this.#checkRoom(accountId);
      // What another change wrote since must stay.
      const row = await transaction
        .selectFrom('token')
        .selectAll()
        .where('token_id', '=', tokenId)
        .executeTakeFirstOrThrow();
      await transaction
        .updateTable('token')
        .set(settingColumns({ ...tokenOf(row), ...changes }))
        .where('token_id', '=', tokenId)
        .execute();
      return [undefined, { accountId, action: 'change token', detail: { tokenId, ...changes } }];
    });
    return this.#shown(tokenId);
  }

  /** A new text for a token; the old one is disabled at once. Its signing secret is new as well. */
  async rotateToken(accountId: string, tokenId: string, actor = SYSTEM): Promise<TokenShown> {
    const { kind, test } = this.token(accountId, tokenId);
    await this.#change(actor, async (transaction) => {
      const { signed } = this.token(accountId, tokenId);
      const row = await transaction
        .selectFrom('token')
        .select('hash')
        .where('token_id', '=', tokenId)
        .executeTakeFirstOrThrow();
      const retired = { hash: row.hash, token_id: tokenId, time_ms: this.#clock() };
      await transaction.insertInto('retired_token').values(retired).execute();
      await transaction
        .updateTable('token')
        .set({
          ...textColumns(this.#secrets, newTokenText(kind, test), kind),
          ...(signed ? { signing_secret: this.#secrets.seal(randomHex(32)) } : {}),
        })
        .where('token_id', '=', tokenId)
        .execute();
      return [undefined, { accountId, action: 'rotate token', detail: { tokenId } }];
    });
    return this.#shown(tokenId);
  }

  /** Requests with the token need a signature from now on; its secret. Again: the same secret. */
  async signToken(accountId: string, text: string, actor = SYSTEM): Promise<string> {
    const known = this.signingSecret(text);
    if (known !== undefined) return known;
    await this.#setSigning(accountId, text, true, actor);
    return this.signingSecret(text) ?? '';
  }

  async unsignToken(accountId: string, text: string, actor = SYSTEM): Promise<void> {
    await this.#setSigning(accountId, text, false, actor);
  }

  /** @throws Failure NotFound when the account has no such token. */
  token(accountId: string, tokenId: string): Token {
    const known = [...this.#callers.byHash.values()].find(
      ({ caller, retired }) =>
        !retired && caller.tokenId === tokenId && caller.accountId === accountId,
    );
    return found(known).caller.token;
  }

  /** Whether the text is a token of the account, and not one that was rotated away. */
  ownsToken(accountId: string, text: string): boolean {
    const known = this.#callers.byHash.get(this.#secrets.hash(text));
    return known?.caller.accountId === accountId && !known.retired;
  }

  /** Every token of an account, or of all accounts, oldest first, those for tests last. */
  async tokens(accountId?: string): Promise<readonly TokenShown[]> {
    await this.saveUses();
    const query = this.#database
      .selectFrom('token')
      .selectAll()
      .orderBy('test')
      .orderBy('created_ms')
      .orderBy('kind');
    const rows = await (
      accountId === undefined ? query : query.where('account_id', '=', accountId)
    ).execute();
    return rows.map((row) => this.#show(row));
  }

  /** Writes when tokens were last used; false where the disk is full. */
  saveUses(): Promise<boolean> {
    return this.#uses.save();
  }

  /**
   * The first account with its two tokens, all or nothing: a first start that is cut in between
   * begins anew. Undefined when there is an account already.
   */
  async createFirst(
    given: Readonly<Record<TokenKind, string>>,
  ): Promise<{ readonly accountId: string; readonly tokens: readonly TokenShown[] } | undefined> {
    if (this.#callers.accounts.size > 0) return undefined;
    const accountId = await this.#change(SYSTEM, async (transaction) => {
      const id = await insertAccount(this.#making(transaction), 'first', 'scale');
      for (const kind of ['publishable', 'secret'] as const) {
        const grants = kind === 'publishable' ? READ_ALL : undefined;
        const settings = { ...DEFAULT_SETTINGS, grants };
        const order = { kind, test: false, settings, given: given[kind] };
        await insertToken(this.#making(transaction), id, order);
      }
      return [id, { accountId: id, action: 'create account', detail: { name: 'first' } }];
    });
    const tokens = await this.tokens(accountId);
    return { accountId, tokens: tokens.filter(({ test }) => !test) };
  }

  /** @throws Failure LimitReached at the tier's number of tokens. */
  #checkRoom(accountId: string): void {
    const { tier } = found(this.#callers.accounts.get(accountId));
    const active = [...this.#callers.byHash.values()].filter(({ caller, retired }) => {
      const { disabled, test } = caller.token;
      return caller.accountId === accountId && !test && !disabled && !retired;
    });
    if (active.length < tier.tokensMax) return;
    const told = `${tier.tokensMax} tokens, the maximum of tier ${tier.name}`;
    throw new Failure('LimitReached', `the account has ${told}: disable one first`);
  }

  /** One after the other: what `work` finds in memory is what the catalog says. */
  #change<T>(
    actor: string,
    work: (transaction: Database) => Promise<readonly [T, Omit<AuditEntry, 'actor'>]>,
  ): Promise<T> {
    return this.#inTurn(async () => {
      const result = await this.#database.transaction().execute(async (transaction) => {
        const [value, entry] = await work(transaction);
        await writeAudit(transaction, { actor, ...entry }, this.#clock());
        return value;
      });
      await this.changes.show(() => this.reload());
      return result;
    });
  }

  async #setSigning(accountId: string, text: string, signs: boolean, actor: string): Promise<void> {
    const known = this.#callers.byHash.get(this.#secrets.hash(text));
    if (known?.caller.accountId !== accountId || known.retired) throw new Failure('NotFound');
    const { tokenId } = known.caller;
    await this.#change(actor, async (transaction) => {
      // Who asks beside another gets the other's secret.
      const secret = this.signingSecret(text) ?? randomHex(32);
      await transaction
        .updateTable('token')
        .set({ signing_secret: signs ? this.#secrets.seal(secret) : null })
        .where('token_id', '=', tokenId)
        .execute();
      const action = signs ? 'sign token' : 'unsign token';
      return [undefined, { accountId, action, detail: { tokenId } }];
    });
  }

  /** Accounts of a folder of version 1 have none. */
  async completeTestTokens(): Promise<void> {
    const known = [...this.#callers.byHash.values()].map(({ caller }) => caller.token);
    const having = new Set(known.filter(({ test }) => test).map(({ accountId }) => accountId));
    const lacking = [...this.#callers.accounts.keys()].filter(
      (accountId) => !having.has(accountId),
    );
    if (lacking.length === 0) return;
    await this.#database.transaction().execute(async (transaction) => {
      for (const accountId of lacking) await insertTestTokens(this.#making(transaction), accountId);
    });
    await this.reload();
  }

  #making(transaction: Database): Making {
    return { database: transaction, secrets: this.#secrets, clock: this.#clock };
  }

  async #shown(tokenId: string): Promise<TokenShown> {
    await this.saveUses();
    const row = await this.#database
      .selectFrom('token')
      .selectAll()
      .where('token_id', '=', tokenId)
      .executeTakeFirstOrThrow();
    return this.#show(row);
  }

  #show(row: Selectable<ServiceTables['token']>): TokenShown {
    const text = row.kind === 'secret' ? this.#secrets.unseal(row.stored) : row.stored;
    return { ...tokenOf(row), text };
  }

  /** Who is who, as the catalog says. */
  async reload(): Promise<void> {
    this.adopt(await loadCallers(this.#database, this.#secrets));
  }

  /** Who is who from now on. */
  adopt(callers: Callers): void {
    this.#callers = callers;
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Failure('NotFound');
  return value;
}
