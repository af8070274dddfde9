// Accounts and their tokens. All of them are in memory: telling a caller reads no database.
import type { Clock } from './clock.ts';
import type { Database } from './database.ts';
import { Failure } from './failure.ts';
import { randomHex } from './random.ts';
import type { Secrets } from './secrets.ts';
import { type Tier, tierOf } from './tiers.ts';

type TokenKind = 'publishable' | 'secret';

/** Who asks: an account through one of its tokens. */
export interface Caller {
  readonly accountId: string;
  readonly tokenId: string;
  readonly kind: TokenKind;
  readonly tier: Tier;
  readonly payAsYouGo: boolean;
}

export interface TokenShown {
  readonly tokenId: string;
  readonly accountId: string;
  readonly kind: TokenKind;
  /** The token itself; whoever may read this may use it. */
  readonly token: string;
  readonly disabled: boolean;
}

interface Known {
  readonly caller: Caller;
  readonly disabled: boolean;
}

export class Accounts {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #clock: Clock;
  #byHash: ReadonlyMap<string, Known> = new Map();

  private constructor(database: Database, secrets: Secrets, clock: Clock) {
    this.#database = database;
    this.#secrets = secrets;
    this.#clock = clock;
  }

  static async open(database: Database, secrets: Secrets, clock: Clock): Promise<Accounts> {
    const accounts = new Accounts(database, secrets, clock);
    await accounts.#load();
    return accounts;
  }

  /**
   * The caller behind a token.
   * @throws Failure InvalidKey, DisabledKey.
   */
  identify(token: string): Caller {
    const known = this.#byHash.get(this.#secrets.hash(token));
    if (known === undefined) throw new Failure('InvalidKey');
    if (known.disabled) throw new Failure('DisabledKey');
    return known.caller;
  }

  /** Makes an account; its id. */
  async createAccount(name: string, tier: string): Promise<string> {
    return this.#insertAccount(this.#database, name, tier);
  }

  /** Makes a token, or takes the given text as one. */
  async createToken(accountId: string, kind: TokenKind, given = ''): Promise<TokenShown> {
    const token = await this.#insertToken(this.#database, accountId, kind, given);
    await this.#load();
    return token;
  }

  /**
   * The first account with its two tokens, all or nothing: a first start that is cut in between
   * begins anew. Undefined when there is an account already.
   */
  async createFirst(
    given: Readonly<Record<TokenKind, string>>,
  ): Promise<{ readonly accountId: string; readonly tokens: readonly TokenShown[] } | undefined> {
    const known = await this.#database
      .selectFrom('account')
      .select('account_id')
      .executeTakeFirst();
    if (known !== undefined) return undefined;
    const made = await this.#database.transaction().execute(async (transaction) => {
      const accountId = await this.#insertAccount(transaction, 'first', 'scale');
      const tokens: TokenShown[] = [];
      for (const kind of ['publishable', 'secret'] as const) {
        tokens.push(await this.#insertToken(transaction, accountId, kind, given[kind]));
      }
      return { accountId, tokens };
    });
    await this.#load();
    return made;
  }

  async #insertAccount(database: Database, name: string, tier: string): Promise<string> {
    const account_id = randomHex(8);
    const row = { account_id, name, tier, pay_as_you_go: false, created_ms: this.#clock() };
    await database.insertInto('account').values(row).execute();
    return account_id;
  }

  async #insertToken(
    database: Database,
    accountId: string,
    kind: TokenKind,
    given: string,
  ): Promise<TokenShown> {
    const token = given === '' ? `${kind === 'secret' ? 'sk' : 'pk'}_${randomHex(16)}` : given;
    const tokenId = randomHex(8);
    await database
      .insertInto('token')
      .values({
        token_id: tokenId,
        account_id: accountId,
        kind,
        hash: this.#secrets.hash(token),
        stored: kind === 'secret' ? this.#secrets.seal(token) : token,
        disabled: false,
        created_ms: this.#clock(),
      })
      .execute();
    return { tokenId, accountId, kind, token, disabled: false };
  }

  /** Every token of an account, or of all accounts. */
  async tokens(accountId?: string): Promise<readonly TokenShown[]> {
    const query = this.#database.selectFrom('token').selectAll().orderBy('created_ms');
    const rows = await (
      accountId === undefined ? query : query.where('account_id', '=', accountId)
    ).execute();
    return rows.map((row) => ({
      tokenId: row.token_id,
      accountId: row.account_id,
      kind: row.kind as TokenKind,
      token: row.kind === 'secret' ? this.#secrets.unseal(row.stored) : row.stored,
      disabled: Boolean(row.disabled),
    }));
  }

  async disableToken(tokenId: string): Promise<void> {
    await this.#database
      .updateTable('token')
      .set({ disabled: true })
      .where('token_id', '=', tokenId)
      .execute();
    await this.#load();
  }

  async #load(): Promise<void> {
    const rows = await this.#database
      .selectFrom('token')
      .innerJoin('account', 'account.account_id', 'token.account_id')
      .select(['token_id', 'token.account_id', 'kind', 'hash', 'disabled', 'tier', 'pay_as_you_go'])
      .execute();
    this.#byHash = new Map(
      rows.map((row) => {
        const caller: Caller = {
          accountId: row.account_id,
          tokenId: row.token_id,
          kind: row.kind as TokenKind,
          tier: tierOf(row.tier),
          payAsYouGo: Boolean(row.pay_as_you_go),
        };
        return [row.hash, { caller, disabled: Boolean(row.disabled) }];
      }),
    );
  }
}
