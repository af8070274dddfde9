// Accounts and their tokens, cached in memory: to identify a caller reads no database. Every change
// and its audit entry are written in one transaction.
import type { Selectable } from 'kysely';
import {
  type Account,
  accountColumns,
  toAccount,
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
  type InsertContext,
  textColumns,
} from './accountInserts.ts';
import { serialQueue } from '../queues/serialQueue.ts';
import { BarrierChanges } from '../queues/readBarrier.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import type { ServiceTables } from '../catalog/tables/service.ts';
import {
  DEFAULT_SETTINGS,
  newTokenText,
  READ_ALL,
  settingColumns,
  type Token,
  type TokenKind,
  toToken,
  type TokenSettings,
} from './tokens.ts';
import { TokenUses } from './tokenUses.ts';

export interface TokenWithText extends Token {
  /** The token itself: who can read it can use it. */
  readonly text: string;
}

/** Actor of changes that the program makes. */
const SYSTEM = 'system';

export class Accounts {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #clock: Clock;
  #callers: Callers = { accounts: new Map(), byHash: new Map(), byId: new Map() };
  readonly #uses: TokenUses;
  readonly #runSerially = serialQueue();
  readonly changes = new BarrierChanges();

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

  /** Records a use of a token at another node. */
  recordUse(tokenId: string, timeMs: number): void {
    this.#uses.add(tokenId, timeMs);
  }

  /** Finds the caller of a token. @throws Failure InvalidKey, DisabledKey, Inactive. */
  identify(text: string): Caller {
    const caller = activeCaller(this.#callers.byHash.get(this.#secrets.hash(text)));
    this.#uses.add(caller.tokenId, this.#clock());
    return caller;
  }

  /** The secret that signs the requests of a signed token. */
  signingSecret(text: string): string | undefined {
    return this.#callers.byHash.get(this.#secrets.hash(text))?.signingSecret;
  }

  /** Finds the caller by the token's id. @throws Failure as `identify`. */
  callerById(tokenId: string): Caller {
    return activeCaller(this.#callers.byId.get(tokenId));
  }

  /** Finds the caller by the token's id, even if the token is disabled or the account is suspended. */
  findCaller(tokenId: string): Caller | undefined {
    return this.#callers.byId.get(tokenId)?.caller;
  }

  account(accountId: string): Account | undefined {
    return this.#callers.accounts.get(accountId);
  }

  /** All accounts, oldest first: the first one is the operator's. */
  list(): readonly Account[] {
    return [...this.#callers.accounts.values()];
  }

  /** Creates an account with its two test tokens. @returns its id */
  async createAccount(name: string, tier: string, actor = SYSTEM): Promise<string> {
    const accountId = await this.#change(actor, async (transaction) => {
      const id = await insertAccount(this.#insertContext(transaction), name, tier);
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
    required(this.#callers.accounts.get(accountId));
    if (changes.tier !== undefined) checkTier(changes.tier);
    await this.#change(actor, async (transaction) => {
      // Reads the row again: what another change wrote in the meantime is kept.
      const row = await transaction
        .selectFrom('account')
        .selectAll()
        .where('account_id', '=', accountId)
        .executeTakeFirstOrThrow();
      const settings = { ...toAccount(row), tier: row.tier, ...changes };
      await transaction
        .updateTable('account')
        .set(accountColumns(settings))
        .where('account_id', '=', accountId)
        .execute();
      return [undefined, { accountId, action: 'change account', detail: { ...changes } }];
    });
    return required(this.#callers.accounts.get(accountId));
  }

  /**
   * Creates a token.
   * @throws Failure LimitReached at the tier's number of tokens.
   */
  async createToken(
    accountId: string,
    kind: TokenKind,
    settings: Partial<TokenSettings> = {},
    actor = SYSTEM,
  ): Promise<TokenWithText> {
    const all = { ...DEFAULT_SETTINGS, ...settings };
    const tokenId = await this.#change(actor, async (transaction) => {
      this.#checkTokenLimit(accountId);
      const id = await insertToken(this.#insertContext(transaction), accountId, {
        kind,
        test: false,
        settings: all,
      });
      return [
        id,
        { accountId, action: 'create token', detail: { tokenId: id, kind, ...settings } },
      ];
    });
    return this.#loadToken(tokenId);
  }

  /** @throws Failure NotFound when the account has no such token. */
  async changeToken(
    accountId: string,
    tokenId: string,
    changes: Partial<TokenSettings>,
    actor = SYSTEM,
  ): Promise<TokenWithText> {
    this.token(accountId, tokenId);
    await this.#change(actor, async (transaction) => {
      const { disabled, test } = this.token(accountId, tokenId);
      if (disabled && changes.disabled === false && !test) this.#checkTokenLimit(accountId);
      // Reads the row again: what another change wrote in the meantime is kept.
      const row = await transaction
        .selectFrom('token')
        .selectAll()
        .where('token_id', '=', tokenId)
        .executeTakeFirstOrThrow();
      await transaction
        .updateTable('token')
        .set(settingColumns({ ...toToken(row), ...changes }))
        .where('token_id', '=', tokenId)
        .execute();
      return [undefined, { accountId, action: 'change token', detail: { tokenId, ...changes } }];
    });
    return this.#loadToken(tokenId);
  }

  /** Replaces a token's text and its signing secret; the old text is disabled immediately. */
  async rotateToken(accountId: string, tokenId: string, actor = SYSTEM): Promise<TokenWithText> {
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
    return this.#loadToken(tokenId);
  }

  /** Requires signatures from now on. @returns the signing secret, the same one for a repeated call */
  async signToken(accountId: string, text: string, actor = SYSTEM): Promise<string> {
    const current = this.signingSecret(text);
    if (current !== undefined) return current;
    await this.#setSigning(accountId, text, true, actor);
    return this.signingSecret(text) ?? '';
  }

  async unsignToken(accountId: string, text: string, actor = SYSTEM): Promise<void> {
    await this.#setSigning(accountId, text, false, actor);
  }

  /** @throws Failure NotFound when the account has no such token. */
  token(accountId: string, tokenId: string): Token {
    const current = [...this.#callers.byHash.values()].find(
      ({ caller, retired }) =>
        !retired && caller.tokenId === tokenId && caller.accountId === accountId,
    );
    return required(current).caller.token;
  }

  /** Whether the text is a current token of the account, not a retired one. */
  ownsToken(accountId: string, text: string): boolean {
    const current = this.#callers.byHash.get(this.#secrets.hash(text));
    return current?.caller.accountId === accountId && !current.retired;
  }

  /** All tokens of one account or of all accounts, oldest first, test tokens last. */
  async tokens(accountId?: string): Promise<readonly TokenWithText[]> {
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
    return rows.map((row) => this.#withText(row));
  }

  /** Saves when tokens were last used. @returns false if the disk is full */
  saveUses(): Promise<boolean> {
    return this.#uses.save();
  }

  /**
   * Creates the first account and its two tokens in one transaction, so that an interrupted first start can
   * be repeated. @returns undefined if there is an account already
   */
  async createFirst(
    texts: Readonly<Record<TokenKind, string>>,
  ): Promise<
    { readonly accountId: string; readonly tokens: readonly TokenWithText[] } | undefined
  > {
    if (this.#callers.accounts.size > 0) return undefined;
    const accountId = await this.#change(SYSTEM, async (transaction) => {
      const id = await insertAccount(this.#insertContext(transaction), 'first', 'scale');
      for (const kind of ['publishable', 'secret'] as const) {
        const grants = kind === 'publishable' ? READ_ALL : undefined;
        const settings = { ...DEFAULT_SETTINGS, grants };
        const order = { kind, test: false, settings, text: texts[kind] };
        await insertToken(this.#insertContext(transaction), id, order);
      }
      return [id, { accountId: id, action: 'create account', detail: { name: 'first' } }];
    });
    const tokens = await this.tokens(accountId);
    return { accountId, tokens: tokens.filter(({ test }) => !test) };
  }

  /** @throws Failure LimitReached at the tier's number of tokens. */
  #checkTokenLimit(accountId: string): void {
    const { tier } = required(this.#callers.accounts.get(accountId));
    const active = [...this.#callers.byHash.values()].filter(({ caller, retired }) => {
      const { disabled, test } = caller.token;
      return caller.accountId === accountId && !test && !disabled && !retired;
    });
    if (active.length < tier.tokensMax) return;
    const tokens = `${tier.tokensMax} tokens, the maximum of tier ${tier.name}`;
    throw new Failure('LimitReached', `the account has ${tokens}: disable one first`);
  }

  /** Runs changes one after another, so that memory equals the catalog when `work` begins. */
  #change<T>(
    actor: string,
    work: (transaction: Database) => Promise<readonly [T, Omit<AuditEntry, 'actor'>]>,
  ): Promise<T> {
    return this.#runSerially(async () => {
      const result = await this.#database.transaction().execute(async (transaction) => {
        const [value, entry] = await work(transaction);
        await writeAudit(transaction, { actor, ...entry }, this.#clock());
        return value;
      });
      await this.changes.apply(() => this.reload());
      return result;
    });
  }

  async #setSigning(accountId: string, text: string, signs: boolean, actor: string): Promise<void> {
    const current = this.#callers.byHash.get(this.#secrets.hash(text));
    if (current?.caller.accountId !== accountId || current.retired) throw new Failure('NotFound');
    const { tokenId } = current.caller;
    await this.#change(actor, async (transaction) => {
      // Concurrent calls share one secret.
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

  /** Adds the test tokens that accounts of a folder of version 1 lack. */
  async completeTestTokens(): Promise<void> {
    const tokens = [...this.#callers.byHash.values()].map(({ caller }) => caller.token);
    const accountsWithTest = new Set(
      tokens.filter(({ test }) => test).map(({ accountId }) => accountId),
    );
    const accountsWithoutTest = [...this.#callers.accounts.keys()].filter(
      (accountId) => !accountsWithTest.has(accountId),
    );
    if (accountsWithoutTest.length === 0) return;
    await this.#database.transaction().execute(async (transaction) => {
      for (const accountId of accountsWithoutTest)
        await insertTestTokens(this.#insertContext(transaction), accountId);
    });
    await this.reload();
  }

  #insertContext(transaction: Database): InsertContext {
    return { database: transaction, secrets: this.#secrets, clock: this.#clock };
  }

  async #loadToken(tokenId: string): Promise<TokenWithText> {
    await this.saveUses();
    const row = await this.#database
      .selectFrom('token')
      .selectAll()
      .where('token_id', '=', tokenId)
      .executeTakeFirstOrThrow();
    return this.#withText(row);
  }

  #withText(row: Selectable<ServiceTables['token']>): TokenWithText {
    const text = row.kind === 'secret' ? this.#secrets.unseal(row.stored) : row.stored;
    return { ...toToken(row), text };
  }

  /** Reads accounts and tokens from the catalog again. */
  async reload(): Promise<void> {
    this.adopt(await loadCallers(this.#database, this.#secrets));
  }

  /** Replaces the accounts and tokens in memory. */
  adopt(callers: Callers): void {
    this.#callers = callers;
  }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Failure('NotFound');
  return value;
}
