// Clients that a third-party generator makes from docs/reference/openapi.json and openapi-market.json: their
// types are correct, and they work.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { loaded } from '../../../base/client.ts';
import { compiled } from '../../../clients/typed/compiled.ts';
import { test } from '../../../base/fixtures.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const MODULES = join(ROOT, 'node_modules');
const GENERATOR = join(MODULES, 'oazapfts', 'dist', 'cli.js');
const run = promisify(execFile);

const PROGRAM = `
import { ok } from '@oazapfts/runtime';
import * as api from './api.ts';

const [base = '', token = ''] = process.argv.slice(2);
api.defaults.baseUrl = base;
api.defaults.headers = { authorization: \`Bearer \${token}\` };

const written = await api.writeRecord('WS', 'P', [{ symbol: 'B', date: '2024-01-03', v: 3 }], { wait: true });
const series = await api.getTimeSeriesByKey('P', 'A', { last: 1, format: 'json' });
const listed = await ok(api.listDatasets('WS', { limit: 10 }));
const refused = await api.getTimeSeriesByKey('P', 'A', { last: -1 });
const unknown = await api.getDataset('WS', 'NONE');
const names: readonly string[] = listed.flatMap(({ datasetId }) => datasetId ?? []);
console.log(JSON.stringify([written.status, series, names, refused.status, unknown.status]));
`;

/** The number of records is not a text. */
const WRONG = `
import { getTimeSeriesByKey } from './api.ts';
await getTimeSeriesByKey('P', 'A', { last: 'many' });
`;

test('three calls of a generated client work, and its types refuse wrong arguments', async ({
  server,
}) => {
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-01,1\nA,2024-01-02,2\n', {
    key: 'symbol',
    date: 'date',
  });
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-client-'));
  try {
    await symlink(MODULES, join(folder, 'node_modules'));
    const document = join(ROOT, 'docs', 'reference', 'openapi.json');
    await run(process.execPath, [GENERATOR, document, join(folder, 'api.ts')]);
    await writeFile(join(folder, 'program.ts'), PROGRAM);
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    const compiler = join(MODULES, 'typescript', 'bin', 'tsc');
    const how = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions'];
    const modules = ['--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
    const compile = (name: string): Promise<unknown> =>
      run(process.execPath, [compiler, ...how, ...modules, name], { cwd: folder });
    await compile('program.ts');
    await writeFile(join(folder, 'wrong.ts'), WRONG);
    await expect(compile('wrong.ts')).rejects.toMatchObject({
      stdout: expect.stringContaining("'string' is not assignable to type 'number'"),
    });
    const { stdout } = await run(
      process.execPath,
      ['program.ts', `${server.base}/v1`, server.secret],
      { cwd: folder },
    );
    const [written, series, names, refused, unknown] = JSON.parse(stdout) as readonly unknown[];
    expect(written).toBe(200);
    expect(series).toMatchObject({ status: 200, data: [{ symbol: 'A', v: 2 }] });
    expect([names, refused, unknown]).toEqual([['P'], 400, 404]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

const OF_MARKET = `
import { ok } from '@oazapfts/runtime';
import * as api from './api.ts';

const quote = await ok(api.getQuote('AAPL'));
const price: number | null | undefined = 'latestPrice' in quote ? quote.latestPrice : undefined;
const [bar] = await ok(api.getChart('AAPL'));
const close: number | null | undefined = bar?.uClose;
const all = await ok(api.getStockMarketBatch({ symbols: ['AAPL'], types: ['earnings'] }));
const earnings = all['AAPL']?.earnings;
`;

test('a client generated from the document of the market has the answer of each type', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-client-'));
  try {
    const [document, clientPath] = [
      join(ROOT, 'docs', 'reference', 'openapi-market.json'),
      join(folder, 'api.ts'),
    ];
    await run(process.execPath, [GENERATOR, document, clientPath]);
    const files = { 'api.ts': await readFile(clientPath, 'utf8') };
    await compiled(OF_MARKET, files);
    await expect(compiled(`${OF_MARKET}bar?.lastPrice;\n`, files)).rejects.toMatchObject({
      stdout: expect.stringContaining("Property 'lastPrice' does not exist"),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
