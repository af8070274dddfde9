// The dashboard of docs/guides/samples/grafana sends requests as Grafana's Infinity data source does: a URL
// with its variables filled in and a bearer token. The answer has the members that it shows.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loaded } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';

const FILE = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'docs',
  'guides',
  'samples',
  'grafana',
  'series.json',
);

interface Target {
  readonly url: string;
  readonly format: string;
  readonly columns: readonly { readonly selector: string; readonly type: string }[];
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[];
}

test('every panel is answered with the columns that it shows', async ({ server }) => {
  const rows = Array.from({ length: 90 }, (_, at) => {
    const day = new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10);
    return `MSFT,${day},${at + 1}`;
  });
  const csv = `symbol,date,price\n${rows.join('\n')}\n`;
  await loaded(server, 'STOCKS', csv, { key: 'symbol', date: 'date' });
  const dashboard = JSON.parse(await readFile(FILE, 'utf8')) as Dashboard;
  const values: Readonly<Record<string, string>> = {
    server: server.base,
    workspace: 'WS',
    dataset: 'STOCKS',
    key: 'MSFT',
    column: 'price',
    '__from:date:YYYY-MM-DD': '2024-01-10',
    '__to:date:YYYY-MM-DD': '2024-03-20',
  };
  const filled = (text: string): string =>
    text.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => values[name] ?? assert.fail(name));
  const names = dashboard.templating.list.map(({ name }) => name);
  for (const name of ['server', 'workspace', 'dataset', 'key', 'column']) {
    assert.ok(names.includes(name), name);
  }
  assert.equal(dashboard.panels.length, 3);
  for (const { targets, title } of dashboard.panels) {
    for (const { columns, format, url } of targets) {
      const authorization = `Bearer ${server.publishable}`;
      const answer = await fetch(filled(url), { headers: { authorization } });
      const text = await answer.text();
      assert.equal(answer.status, 200, `${title}: ${text}`);
      const records = JSON.parse(text) as readonly Readonly<Record<string, unknown>>[];
      assert.ok(records.length >= 3, `${title}: ${text}`);
      for (const { selector, type } of columns) {
        const value = records[0]?.[filled(selector)];
        assert.equal(typeof value, 'number', `${title}: ${selector}`);
        const isTime = type === 'timestamp_epoch';
        if (isTime) assert.equal(new Date(Number(value)).getUTCFullYear(), 2024);
      }
      assert.equal(format === 'timeseries', columns[0]?.type === 'timestamp_epoch');
    }
  }
});
