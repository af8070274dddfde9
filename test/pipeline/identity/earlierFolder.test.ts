// A folder of an earlier version opens; its inferred unique indexes are marked, kept as they
// are, and reported until their owner chooses.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { load, read, send } from '../../base/client.ts';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { runHere } from '../../cli/commandHere.ts';
import { commandsIn } from '../hints/followHints.ts';
import { isElsewhere } from '../../base/catalogElsewhere.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const csv = (...lines: readonly string[]): string => `symbol,date,v\n${lines.join('\n')}\n`;

/** As version 17 wrote it: unique by an inferred index, which is not marked as inferred. */
async function makeEarlier({ tapedeck }: TestServer, names: readonly string[]): Promise<void> {
  const { database } = tapedeck.services;
  for (const dataset of names) {
    await database
      .updateTable('dataset')
      .set({ is_inferred: 0 })
      .where('dataset', '=', dataset)
      .execute();
  }
  for (const name of ['loaded_file', 'write_key']) await database.schema.dropTable(name).execute();
  for (const name of ['records_replaced', 'records_unchanged', 'columns_left_out_json']) {
    await database.schema.alterTable('job').dropColumn(name).execute();
  }
  await database.schema.alterTable('dataset').dropColumn('is_inferred').execute();
  await database.schema.alterTable('account').dropColumn('ceiling').execute();
  await database.updateTable('folder').set({ value: '17' }).where('key', '=', 'version').execute();
}

test('an index that an earlier version inferred is marked, and one that was declared is not', async (t) => {
  if (isElsewhere()) t.skip('the columns of this test are dropped in SQLite alone');
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-earlier-'));
  try {
    {
      await using server = await startServer({ folder });
      const index = { key: 'symbol', date: 'date' };
      for (const name of ['DECLARED', 'INFERRED']) {
        const answer = await load(server, name, csv('A,2024-01-01,1'), index);
        assert.equal(answer.status, 200);
      }
      const { database } = server.tapedeck.services;
      // The record of a job of an earlier version about an index that it inferred.
      const jobs = await database
        .selectFrom('job')
        .selectAll()
        .where('dataset', '=', 'INFERRED')
        .execute();
      for (const job of jobs) {
        const { mapping: _, ...order } = JSON.parse(job.load_json);
        const notes = ['unique index: key symbol, date date, proved on all records'];
        await database
          .updateTable('job')
          .set({ load_json: JSON.stringify(order), notes_json: JSON.stringify(notes) })
          .where('job_id', '=', job.job_id)
          .execute();
      }
      await makeEarlier(server, ['DECLARED', 'INFERRED']);
    }
    await using server = await startServer({ folder });
    const view = async (name: string): Promise<Record<string, unknown>> =>
      JSON.parse((await send(server, 'GET', `/datasets/WS/${name}`)).text);
    assert.equal((await view('DECLARED'))['inferredIndex'], undefined);
    assert.equal((await view('INFERRED'))['inferredIndex'], true);
    const headers = { authorization: `Bearer ${server.tapedeck.services.adminToken}` };
    const status = await (await fetch(`${server.base}/v1/admin/status`, { headers })).json();
    const { problems } = status as { problems: readonly { advice: string; what: string }[] };
    const text = 'WS.INFERRED has a unique index (symbol, date)';
    const problem = problems.find(({ what }) => what.startsWith(text));
    assert.ok(problem !== undefined);
    // It works as before: a repeated index value adds no second record.
    const again = await load(server, 'INFERRED', csv('A,2024-01-01,2'));
    assert.match(await again.text(), /inferred by an earlier version and never declared/);
    assert.equal(
      await read(server, '/sql-query/WS?sqlQuery=SELECT count(*) AS n FROM INFERRED'),
      '[{"n":1}]',
    );
    const [declare = [], keep = []] = commandsIn(problem.advice);
    await writeServerFile(folder, { base: server.base });
    const env = { TAPEDECK_DATA: folder, TAPEDECK_LOG: 'silent', TAPEDECK_CHILDREN: '1' };
    const declared = await runHere(declare, { env });
    assert.equal(declared.code, 0, `${declare.join(' ')}: ${declared.stderr}`);
    assert.equal((await view('INFERRED'))['inferredIndex'], undefined);
    const result = await runHere(keep, { env });
    assert.equal(result.code, 0, `${keep.join(' ')}: ${result.stderr}`);
    assert.equal((await view('INFERRED'))['uniqueIndex'], false);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
