// Every table of vega-datasets and of the shared folder: it loads without an option, or is refused in a
// sentence that names one. Prints what became of each.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { loaded, load } from '../client.ts';
import { startServer, type TestServer } from '../server.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = [
  join(ROOT, 'node_modules', 'vega-datasets', 'data'),
  join(ROOT, '..', 'shared', 'data'),
];
const TABLE = /\.(?:csv|tsv|json|jsonl|parquet|arrow)$/;

/** Documents that hold several lists, or none of records: each says what to add. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'annual-precip.json': /one JSON document of \d+ bytes .* say jsonPath/,
  'earthquakes.json': /\$\.features\[\*\] has 1707 objects; say jsonPath=/,
  'londonBoroughs.json': /\$\.objects\.boroughs\.geometries\[\*\] has 33 objects; say jsonPath=/,
  'londonTubeLines.json': /\$\.objects\.line\.geometries\[\*\] has 394 objects; say jsonPath=/,
  'miserables.json':
    /\$\.links\[\*\] has 254 objects, \$\.nodes\[\*\] has 77 objects; say jsonPath=/,
  'us-10m.json': /\$\.objects\.counties\.geometries\[\*\] has 3641 objects.* say jsonPath=/,
  'world-110m.json': /\$\.objects\.countries\.geometries\[\*\] has 177 objects; say jsonPath=/,
};

/** Files whose last line is nothing but delimiters: counted and told, and no record. */
const INVALID: Readonly<Record<string, number>> = { 'nasdaq-listed-symbols.csv': 1 };

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.close());

for (const [at, folder] of FOLDERS.entries()) {
  test(`every table of ${folder.slice(ROOT.length)}`, async (t) => {
    if (!existsSync(folder)) {
      if (process.env['CI'] === 'true') assert.fail(`${folder} is missing`);
      t.skip('the folder is not on this machine');
      return;
    }
    for (const file of (await readdir(folder)).filter((name) => TABLE.test(name)).sort()) {
      const id = `V${at}_${file.replaceAll(/\W/g, '_')}`;
      await t.test(file, (one) => check(one, join(folder, file), file, id));
    }
  });
}

async function check(t: TestContext, path: string, file: string, id: string): Promise<void> {
  const bytes = await readFile(path);
  const refused = REFUSED[file];
  if (refused !== undefined) {
    const text = await (await load(server, id, bytes)).text();
    const { message } = JSON.parse(text) as { readonly message: string };
    assert.match(message, refused);
    t.diagnostic(`${file}: ${message}`);
    return;
  }
  const job = await loaded(server, id, bytes);
  const { recordsDuplicate, recordsIngested, recordsInvalid, recordsValidated } = job;
  t.diagnostic(`${file}: ${recordsValidated} records in, ${recordsIngested} kept`);
  assert.equal(recordsInvalid, INVALID[file] ?? 0);
  assert.ok(recordsValidated > 0);
  assert.equal(recordsValidated, recordsIngested + recordsDuplicate);
}
