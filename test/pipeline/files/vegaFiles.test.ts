// Every table of vega-datasets and of the shared folder: it loads without an option, or is refused in a
// sentence that names one. Prints the result of each.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test, type TestContext } from 'vitest';
import { loaded, load } from '../../base/client.ts';
import { note } from '../../base/notes.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FOLDERS = [
  join(ROOT, 'node_modules', 'vega-datasets', 'data'),
  join(ROOT, '..', 'shared', 'data'),
];
const TABLE = /\.(?:csv|tsv|json|jsonl|parquet|arrow)$/;

/** Documents that hold several lists, or none of records: each refusal names the parameter to add. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'annual-precip.json': /one JSON document of \d+ bytes .* pass jsonPath/,
  'earthquakes.json': /\$\.features\[\*\] has 1707 objects; pass jsonPath=/,
  'londonBoroughs.json': /\$\.objects\.boroughs\.geometries\[\*\] has 33 objects; pass jsonPath=/,
  'londonTubeLines.json': /\$\.objects\.line\.geometries\[\*\] has 394 objects; pass jsonPath=/,
  'miserables.json':
    /\$\.links\[\*\] has 254 objects, \$\.nodes\[\*\] has 77 objects; pass jsonPath=/,
  'us-10m.json': /\$\.objects\.counties\.geometries\[\*\] has 3641 objects.* pass jsonPath=/,
  'world-110m.json': /\$\.objects\.countries\.geometries\[\*\] has 177 objects; pass jsonPath=/,
};

/** Files whose last line is nothing but delimiters: counted and reported, and no record. */
const INVALID: Readonly<Record<string, number>> = { 'nasdaq-listed-symbols.csv': 1 };

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

for (const [at, folder] of FOLDERS.entries()) {
  describe(`every table of ${folder.slice(ROOT.length)}`, () => {
    test('is there', (t) => {
      if (process.env['CI'] === 'true') assert.ok(existsSync(folder), `${folder} is missing`);
      else t.skip(!existsSync(folder), 'the folder is not on this machine');
    });
    for (const file of tablesIn(folder)) {
      const id = `V${at}_${file.replaceAll(/\W/g, '_')}`;
      test(file, (t) => check(t, join(folder, file), file, id));
    }
  });
}

const tablesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => TABLE.test(name))
        .sort()
    : [];

async function check(t: TestContext, path: string, file: string, id: string): Promise<void> {
  const bytes = await readFile(path);
  const refused = REFUSED[file];
  if (refused !== undefined) {
    const text = await (await load(server, id, bytes)).text();
    const { message } = JSON.parse(text) as { readonly message: string };
    assert.match(message, refused);
    note(t, `${file}: ${message}`);
    return;
  }
  const job = await loaded(server, id, bytes);
  const { recordsDuplicate, recordsIngested, recordsInvalid, recordsValidated } = job;
  note(t, `${file}: ${recordsValidated} records in, ${recordsIngested} kept`);
  assert.equal(recordsInvalid, INVALID[file] ?? 0);
  assert.ok(recordsValidated > 0);
  assert.equal(recordsValidated, recordsIngested + recordsDuplicate);
}
