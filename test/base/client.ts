// The requests that most tests send.
import assert from 'node:assert/strict';
import type { TestServer } from './server.ts';

/** POSTs a body into a dataset of workspace WS and returns the answer, also a refusal. */
export function load(
  server: TestServer,
  dataset: string,
  body: string | Uint8Array,
  query: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const all = new URLSearchParams({ wait: 'true', token: server.secret, ...query });
  const url = `${server.base}/v1/data/WS/${dataset}?${all}`;
  return fetchResponse(url, { method: 'POST', body: body as string | Uint8Array<ArrayBuffer> });
}

/** A connection error has no line of the test in its stack: this names the request. */
async function fetchResponse(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    const { pathname } = new URL(url);
    throw new Error(`${init.method ?? 'GET'} ${pathname} has no answer`, { cause });
  }
}

/** Loads, expects success and returns the finished job. */
export async function loaded(
  server: TestServer,
  dataset: string,
  body: string | Uint8Array,
  query: Readonly<Record<string, string>> = {},
): Promise<JobView> {
  const answer = await load(server, dataset, body, query);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const { jobUrl } = JSON.parse(text) as { readonly jobUrl: string };
  const job = await fetchResponse(`${server.base}${jobUrl}?token=${server.secret}`);
  return (await job.json()) as JobView;
}

interface JobView {
  readonly jobId: string;
  readonly status: string;
  readonly snapshot: number;
  readonly error: string | null;
  readonly recordsValidated: number;
  readonly recordsIngested: number;
  readonly recordsInvalid: number;
  readonly recordsDuplicate: number;
  readonly recordsQuarantined: number;
  readonly notes: readonly string[];
}

/** Sends JSON below /v1 with the secret token; returns status and text of the answer, also of a refusal. */
export async function send(
  server: TestServer,
  method: string,
  path: string,
  value?: object,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const body = value === undefined ? {} : { body: JSON.stringify(value) };
  const answer = await fetchResponse(`${server.base}/v1${path}`, { method, headers, ...body });
  return { status: answer.status, text: await answer.text() };
}

/** GETs below /v1 with the publishable token. */
export function get(server: TestServer, path: string): Promise<Response> {
  const separator = path.includes('?') ? '&' : '?';
  return fetchResponse(`${server.base}/v1${path}${separator}token=${server.publishable}`);
}

/** GETs below /v1 and expects 200; the body's text. */
export async function read(server: TestServer, path: string): Promise<string> {
  const answer = await get(server, path);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
  return text;
}

/** The text of an answer; empty for a stream, which has no end. */
export async function textOf(answer: Response): Promise<string> {
  const type = answer.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream')) return answer.text();
  await answer.body?.cancel();
  return '';
}
