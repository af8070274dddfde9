// Loads a file of daily prices into a dataset, then reads the last days of one symbol.
//
//   TAPEDECK_URL=http://127.0.0.1:8080 TAPEDECK_TOKEN=sk_… node prices.mjs prices.csv
import { readFile } from 'node:fs/promises';
import { argv, env } from 'node:process';

const base = env.TAPEDECK_URL ?? 'http://127.0.0.1:8080';
const workspace = env.TAPEDECK_WORKSPACE ?? 'MINE';
const headers = { authorization: `Bearer ${env.TAPEDECK_TOKEN}` };

async function call(path, options = {}) {
  const response = await fetch(`${base}/v1${path}`, { ...options, headers });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response;
}

const loaded = await call(`/data/${workspace}/PRICES?wait=true&key=symbol&date=date`, {
  method: 'POST',
  body: await readFile(argv[2] ?? new URL('prices.csv', import.meta.url)),
});
const { jobUrl } = await loaded.json();
const job = await fetch(`${base}${jobUrl}`, { headers }).then((response) => response.json());
process.stdout.write(`stored ${job.stored} of ${job.received} records\n`);

const response = await call(`/data/${workspace}/PRICES/ACME?last=3`);
for (const { date, close } of await response.json()) process.stdout.write(`${date} ${close}\n`);
const used = response.headers.get('svccloud-messages-used');
process.stdout.write(`messages used: ${used}\n`);
