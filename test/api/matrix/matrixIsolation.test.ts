// Two accounts: each sends all requests of every row for the other's objects. Objects of one do
// not exist for the other, with any grants of its tokens, and no answer reveals them.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { rollJournal } from '../../../jobs/upkeep/journalRoll.ts';
import type { Right, TokenKind, TokenSettings } from '../../../store/accounts/tokens.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { requestOf, type Target, type Way, WAYS } from './matrixCases.ts';
import { ask, each, judge, type State } from './matrixJudge.ts';
import { differences, makeOwner, type Owner, stored, targetOf, tokensOf } from './matrixOwner.ts';
import {
  foreign,
  type Grip,
  may,
  namesWorkspace,
  SECRET,
  testing,
  describeFailure,
} from './matrixRules.ts';

const ALL: readonly Right[] = ['read', 'write', 'delete'];

let server: TestServer;
let a: Owner;
let b: Owner;
beforeAll(async () => {
  server = await startServer({ settings: { TAPEDECK_SANDBOX_PORT: '0' } });
  const { accounts } = server.tapedeck.services;
  a = await makeOwner(server, server.tapedeck.accountId, 'A', '424242');
  b = await makeOwner(server, await accounts.createAccount('B', 'scale'), 'B', '434343');
});
afterAll(() => server.close());

/** Texts that only the owner's objects include, and that no answer to anyone else may include. */
function marksOf({ accountId, publishable, secret, target, value }: Owner): readonly string[] {
  const { id, jobId, key, signable, signed, subkey, tokenId, workspace } = target;
  const tokens = [publishable, secret, signable, signed, tokenId];
  return [accountId, value, id, jobId, key, subkey, workspace, ...tokens];
}

/** A valid token of `from` requests all objects of `of`. */
async function judged(from: Owner, of: Owner, grip: Grip, more: Partial<State>): Promise<void> {
  const { ledger } = server.tapedeck.services;
  const mine = (line: string): boolean => marksOf(from).some((mark) => line.includes(mark));
  const balance = ledger.balance(of.accountId);
  const before = await stored(server);
  const token = grip.kind === 'secret' ? from.secret : from.publishable;
  await judge(server, {
    name: `${grip.kind} ${String(grip.rights)}`,
    manner: { base: server.base, token },
    rule: foreign(grip),
    owner: of,
    spare: of.target,
    hidden: marksOf(of),
    ...more,
  });
  const theirs = (line: string): boolean => marksOf(of).some((mark) => line.includes(mark));
  const touched = differences(before, await stored(server)).filter((line) =>
    line.startsWith('-') ? !mine(line) : theirs(line),
  );
  assert.deepEqual(touched, [], 'an object of another account was changed or created');
  assert.deepEqual(ledger.balance(of.accountId), balance, 'nobody pays for another');
}

/** The manner of a new token of B. */
async function tokenOf(
  kind: TokenKind,
  settings: Partial<TokenSettings>,
): Promise<Pick<State, 'manner'>> {
  const { accounts } = server.tapedeck.services;
  const { text: token } = await accounts.createToken(b.accountId, kind, settings);
  return { manner: { base: server.base, token } };
}

test("another account's secret token, also the operator's own", async () => {
  await judged(b, a, SECRET, {});
  await judged(a, b, SECRET, {});
});

test("another account's publishable token", async () => {
  await judged(b, a, { kind: 'publishable', rights: ['read'] }, {});
  await judged(a, b, { kind: 'publishable', rights: ['read'] }, {});
});

test('rights apply only to datasets of the own account, with any names that they list', async () => {
  // The names in lower case are equivalent, but are no marks in B's own list of tokens.
  const { id, workspace } = lowered(a).target;
  for (const datasets of ['*', `${workspace}.*`, `${workspace}.${id}`]) {
    const settings = { grants: [{ datasets, rights: ALL }] };
    for (const kind of ['publishable', 'secret'] as const) {
      const grip = { kind, rights: datasets === '*' ? ALL : [], changes: true };
      await judged(b, a, grip, { ...(await tokenOf(kind, settings)), name: `${kind} ${datasets}` });
    }
  }
});

const lowered = (owner: Owner): Owner => {
  const { id, workspace } = owner.target;
  const names = { id: id.toLowerCase(), workspace: workspace.toLowerCase() };
  return { ...owner, target: { ...owner.target, ...names } };
};

test('names are the same in any case, and so is their absence', async () => {
  await judged(b, a, SECRET, { owner: lowered(a) });
});

test('another account in the test environment', async () => {
  const base = server.tapedeck.sandbox ?? '';
  for (const { kind, text: token } of await tokensOf(server, b.accountId, true)) {
    const grip = kind === 'secret' ? SECRET : ({ kind, rights: ['read'] } as const);
    const rule = testing(foreign(grip));
    await judged(b, a, grip, { rule, manner: { base, token } });
  }
});

test("A's names in B's own workspace return nothing of A", async () => {
  const workspace = b.target.workspace;
  const manner = { base: server.base, token: b.secret };
  const before = await stored(server);
  const changes = [{ workspace }, { workspace, id: '*' }];
  await each(changes, async (change) => {
    for (const way of WAYS.filter(({ testCase }) => testCase.reach !== 'account')) {
      const request = requestOf(way, { ...targetOf(a), ...change });
      const answer = await ask(request, manner);
      const name = `${request.method} ${request.path}`;
      assert.ok(answer.status < 500, `${name}: ${answer.text}`);
      if (way.route.includes(':jobId') && way.testCase.reach !== 'operator')
        assert.deepEqual([answer.status, answer.text], [404, 'Not Found'], name);
      // Objects that B creates under these names are B's; an answer with more than the names is a leak.
      for (const mark of [a.accountId, a.value, a.target.workspace, a.target.tokenId])
        assert.ok(!answer.text.includes(mark), `${name} reveals ${mark}: ${answer.text}`);
    }
  });
  const touched = differences(before, await stored(server));
  assert.deepEqual(
    touched.filter((line) => line.includes(a.accountId)),
    [],
  );
});

test('a used workspace name stays with its owner', async () => {
  for (const name of [a.target.workspace, a.target.workspace.toLowerCase()]) {
    const request = {
      method: 'POST',
      path: '/workspaces',
      body: JSON.stringify({ name }),
    } as const;
    const { status, text } = await ask(request, { base: server.base, token: b.secret });
    assert.equal(status, 409, text);
  }
});

test("the program's own workspace: managers of an account read its lines, nobody changes it", async () => {
  const { journal, ledger } = server.tapedeck.services;
  // The latest line is A's.
  for (const { secret, target } of [b, a]) {
    const path = `/data/${target.workspace}/${target.id}`;
    const request = { method: 'GET', path, body: undefined } as const;
    assert.equal((await ask(request, { base: server.base, token: secret })).status, 200);
  }
  await ledger.flush();
  assert.ok((await rollJournal(journal)) > 0);
  const names = { workspace: '_SYSTEM', id: 'CALLS', attribute: 'endpoint', key: b.accountId };
  const before = await unread();
  for (const way of WAYS.filter(namesWorkspace)) {
    for (const [kind, token] of Object.entries({ secret: b.secret, publishable: b.publishable })) {
      const target: Target = { ...targetOf(b), ...names, subkey: '' };
      const request = requestOf(way, target);
      const answer = await ask(request, { base: server.base, token });
      const name = `${kind}: ${request.method} ${request.path}`;
      const verdict = ofSystem(way, kind === 'secret');
      const status = verdict === 'allowed' ? 200 : describeFailure(verdict, way).status;
      assert.equal(answer.status, status, `${name}: ${answer.text}`);
      assert.ok(!answer.text.includes(a.accountId), name);
    }
  }
  assert.deepEqual(differences(before, await unread()), []);
});

/** The stored rows, without the lines that reads write. */
const unread = async (): Promise<readonly string[]> =>
  (await stored(server)).filter((line) => !/^(usage|balance|journal) /.test(line));

function ofSystem(way: Way, manages: boolean): ReturnType<ReturnType<typeof may>> {
  const reads = ['lists', 'read', 'inspect'].includes(way.testCase.reach);
  const verdict = may(manages ? SECRET : { kind: 'publishable', rights: ALL })(way);
  if (verdict !== 'allowed') return verdict;
  if (!reads || (manages && way.testCase.whole === true)) return 'NotFound';
  return manages ? 'allowed' : 'Restricted';
}
