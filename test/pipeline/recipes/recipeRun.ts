// A recipe as its owner uses it: added by the command line beside a real server, from a local
// server that stands for the publisher, and run.
import assert from 'node:assert/strict';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import type { Ran } from '../../cli/command.ts';
import { runHere } from '../../cli/commandHere.ts';
import type { Seams } from '../../../app/core.ts';
import { startServer } from '../../base/server.ts';
import { startHttp } from '../../base/servers/http.ts';

type Told = Readonly<Record<string, unknown>>;

/** What the publisher was asked for. */
interface Asked {
  readonly url: string;
  readonly agent: string;
}

interface RecipeRun extends AsyncDisposable {
  /** Origin of the publisher's stand-in. */
  readonly base: string;
  readonly asked: readonly Asked[];
  /** What is answered from now on, whatever is asked for. */
  publish(body: string): void;
  /** The day on which the server lives from now on. */
  live(on: string): void;
  tapedeck(...args: readonly string[]): Promise<Ran>;
  /** Fills CORE with the exchange of the seams. */
  fill(): Promise<void>;
  /** `recipe add` with the stand-in; what it said. */
  add(...args: readonly string[]): Promise<string>;
  /** Runs a schedule now; its end. */
  runs(schedule: string, workspace?: string): Promise<Told>;
  /** What a path below `/v1` lists. */
  list(path: string): Promise<readonly Told[]>;
  /** The log of a job's rejected records. */
  rejected(job: Told): Promise<string>;
  rows(query: string): Promise<readonly Told[]>;
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
  const asked: Asked[] = [];
  const publisher = await startHttp((request, response) => {
    asked.push({ url: request.url ?? '', agent: request.headers['user-agent'] ?? '' });
    response.end(body);
  });
  const base = `http://127.0.0.1:${publisher.port}`;
  // Nothing runs by the clock: a test says when.
  const server = await startServer({
    settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' },
    seams: { watch: false, clock: () => now, ...seams },
  });
  await writeServerFile(server.folder, { base: server.base });
  const tapedeck = commandsOn(server.folder);
  const told = async (method: string, path: string, value?: object): Promise<string> => {
    const headers = { authorization: `Bearer ${server.secret}` };
    const sent = value === undefined ? {} : { body: JSON.stringify(value) };
    const answer = await fetch(`${server.base}/v1${path}`, { method, headers, ...sent });
    const text = await answer.text();
    assert.ok(answer.ok, text);
    return text;
  };
  const ask = async (...asks: Parameters<typeof told>): Promise<Told> =>
    JSON.parse(await told(...asks)) as Told;
  const list = async (path: string): Promise<readonly Told[]> =>
    (await ask('GET', path)) as unknown as readonly Told[];
  return {
    base,
    asked,
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
    rejected: (job) => told('GET', `/jobs/WS/ingest/${String(job['jobId'])}/invalid-records-log`),
    rows: async (query) =>
      (await ask('POST', '/sql-query/WS', { query })) as unknown as readonly Told[],
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await publisher[Symbol.asyncDispose]();
    },
  };
}

/** What a job counted: ingested, duplicates, invalid; or why it ended. */
export const countsOf = (job: Told): unknown =>
  job['error'] ?? [job['recordsIngested'], job['recordsDuplicate'], job['recordsInvalid']];
