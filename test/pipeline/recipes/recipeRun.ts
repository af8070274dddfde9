// A recipe as its owner uses it: added by the command line beside a real server, from a local
// server in place of the publisher, and run.
import assert from 'node:assert/strict';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import type { Ran } from '../../cli/command.ts';
import { runHere } from '../../cli/commandHere.ts';
import type { Seams } from '../../../app/core.ts';
import { startServer } from '../../base/server.ts';
import { startHttp } from '../../base/servers/http.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A request that the publisher received. */
interface PublisherRequest {
  readonly url: string;
  readonly agent: string;
}

interface RecipeRun extends AsyncDisposable {
  /** Origin of the publisher's mock server. */
  readonly base: string;
  readonly requests: readonly PublisherRequest[];
  /** Sets the body of all answers from now on, for any request. */
  publish(body: string): void;
  /** Sets the server's date from now on. */
  live(on: string): void;
  tapedeck(...args: readonly string[]): Promise<Ran>;
  /** Fills CORE with the exchange of the seams. */
  fill(): Promise<void>;
  /** `recipe add` with the mock server; returns its output. */
  add(...args: readonly string[]): Promise<string>;
  /** Runs a schedule now; returns the finished job. */
  runs(schedule: string, workspace?: string): Promise<JsonObject>;
  /** The list at a path below `/v1`. */
  list(path: string): Promise<readonly JsonObject[]>;
  /** The log of a job's rejected records. */
  rejected(job: JsonObject): Promise<string>;
  rows(query: string): Promise<readonly JsonObject[]>;
}

/** The command line on a data folder. */
function commandsOn(folder: string): RecipeRun['tapedeck'] {
  const env = { TAPEDECK_DATA: folder, TAPEDECK_LOG: 'silent' };
  return (...args) => runHere(args, { env });
}

async function filled({ tapedeck }: Awaited<ReturnType<typeof startServer>>): Promise<void> {
  tapedeck.exchange?.start();
  await tapedeck.exchange?.filled();
}

/** @param seams such as an exchange that fills CORE */
export async function openRecipes(seams: Seams = {}): Promise<RecipeRun> {
  let [body, now] = ['', Date.UTC(2025, 1, 20, 12)];
  const requests: PublisherRequest[] = [];
  const publisher = await startHttp((request, response) => {
    requests.push({ url: request.url ?? '', agent: request.headers['user-agent'] ?? '' });
    response.end(body);
  });
  const base = `http://127.0.0.1:${publisher.port}`;
  // No schedule runs by the clock: a test starts it.
  const server = await startServer({
    settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' },
    seams: { watch: false, clock: () => now, ...seams },
  });
  await writeServerFile(server.folder, { base: server.base });
  const tapedeck = commandsOn(server.folder);
  const requestText = async (method: string, path: string, value?: object): Promise<string> => {
    const headers = { authorization: `Bearer ${server.secret}` };
    const sent = value === undefined ? {} : { body: JSON.stringify(value) };
    const answer = await fetch(`${server.base}/v1${path}`, { method, headers, ...sent });
    const text = await answer.text();
    assert.ok(answer.ok, text);
    return text;
  };
  const ask = async (...asks: Parameters<typeof requestText>): Promise<JsonObject> =>
    JSON.parse(await requestText(...asks)) as JsonObject;
  const list = async (path: string): Promise<readonly JsonObject[]> =>
    (await ask('GET', path)) as unknown as readonly JsonObject[];
  return {
    base,
    requests,
    publish: (text) => (body = text),
    live: (on) => (now = Date.parse(`${on}T12:00:00Z`)),
    tapedeck,
    fill: () => filled(server),
    add: async (...args) => {
      const ran = await tapedeck('recipe', 'add', ...args, '--base', base);
      assert.equal(ran.code, 0, ran.stderr);
      return ran.stdout;
    },
    runs: async (name, workspace = 'WS') => {
      const place = `/ingestion-schedules/${workspace}`;
      const { ingestionScheduleId: id } =
        (await list(place)).find((one) => one['name'] === name) ?? {};
      const { jobId } = await ask('POST', `${place}/${String(id)}/run`);
      for (;;) {
        const job = await ask('GET', `/jobs/${workspace}/ingest/${String(jobId)}`);
        if (job['finished'] !== null) return job;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    list,
    rejected: (job) =>
      requestText('GET', `/jobs/WS/ingest/${String(job['jobId'])}/invalid-records-log`),
    rows: async (query) =>
      (await ask('POST', '/sql-query/WS', { query })) as unknown as readonly JsonObject[],
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await publisher[Symbol.asyncDispose]();
    },
  };
}

/** The counts of a job: ingested, duplicates, invalid; or the reason why it ended. */
export const countsOf = (job: JsonObject): unknown =>
  job['error'] ?? [job['recordsIngested'], job['recordsDuplicate'], job['recordsInvalid']];
