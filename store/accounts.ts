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
    const account_id = randomHex(8);
    const row = { account_id, name, tier, pay_as_you_go: false, created_ms: this.#clock() };
    await this.#database.insertInto('account').values(row).execute();
    return account_id;
  }

  /** Makes a token, or takes the given text as one. */
  async createToken(accountId: string, kind: TokenKind, given = ''): Promise<TokenShown> {
    const token = given === '' ? `${kind === 'secret' ? 'sk' : 'pk'}_${randomHex(16)}` : given;
    const tokenId = randomHex(8);
    await this.#database
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
    await this.#load();
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
