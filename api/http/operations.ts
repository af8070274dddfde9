// Serves health, readiness and metrics to operators, and reads the TLS files.
import type { IncomingMessage } from 'node:http';
import { constants } from 'node:fs';
import { access, readFile, statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import type { FastifyInstance } from 'fastify';
import { FREE_BYTES_MIN } from '../../store/base/disk.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { isSameSecret } from '../../store/catalog/secrets/adminToken.ts';
import { readToken } from './token.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Services } from '../request/endpoint.ts';
import { type AnswerBuffers, makeAnswerBuffers } from './answerBuffers.ts';
import { type RecordAnswer, accessLogHook } from './accessLog.ts';
import {
  makeMetrics,
  type Metrics,
  type MetricsServices,
} from '../introspection/metrics/metrics.ts';
import type { LocalAnswer } from '../forward/frontServer.ts';
import { type Pace, READING_PACE } from '../request/body/pace.ts';

type OperationsServices = MetricsServices & Pick<Services, 'adminToken' | 'folder' | 'settings'>;

export interface ServerState {
  /** The server accepts no new work and ends soon. */
  isDraining: boolean;
  readonly metrics: Metrics;
  /** Answers that wait for their readers. */
  readonly answerBuffers: AnswerBuffers;
}

export const makeServerState = (
  services: OperationsServices,
  pace: Pace = READING_PACE,
): ServerState => ({
  isDraining: false,
  metrics: makeMetrics(services),
  answerBuffers: makeAnswerBuffers(services.settings.answerDiskBytes, pace),
});

/** Lists the pages at the root address. @param hasConsole whether this port serves the console */
export function addRoot(
  server: FastifyInstance,
  { hasConsole, hasMetrics }: { readonly hasConsole: boolean; readonly hasMetrics: boolean },
  ended: RecordAnswer,
): void {
  const lines = [
    '/v1            the API; /v1/openapi-doc describes it',
    ...(hasConsole ? ['/console       datasets, queries, usage and tokens, for people'] : []),
    ...(hasConsole ? ['/docs          the documentation, with a search'] : []),
    '/mcp           tools for agents',
    '/llms.txt      the interface in short',
    '/readyz        whether the server takes work',
    ...(hasMetrics ? ['/metrics       figures for Prometheus'] : []),
  ];
  server.get('/', { onResponse: accessLogHook(ended) }, ({ headers }, reply) => {
    const isPage = (headers.accept ?? '').includes('text/html');
    reply.header('vary', 'accept');
    if (hasConsole && isPage) return reply.redirect('/console', 302);
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`);
  });
}

/** `/healthz`, `/readyz` and `/metrics` have no version in their path and need no token. */
export function addOperations(
  server: FastifyInstance,
  services: OperationsServices,
  state: ServerState,
  ended: RecordAnswer,
): void {
  const onResponse = accessLogHook(ended);
  server.get('/healthz', { onResponse }, (_request, reply) =>
    reply.type('text/plain').send('ok\n'),
  );
  server.get('/readyz', { onResponse }, async (_request, reply) => {
    const reason = await findUnreadyReason(services, state);
    const text = reason === undefined ? readyText(services) : `not ready: ${reason}\n`;
    return reply
      .code(reason === undefined ? 200 : 503)
      .type('text/plain')
      .send(text);
  });
  if (services.settings.metricsAddress !== undefined) return;
  server.get('/metrics', { onResponse }, async ({ raw }, reply) => {
    const { text, type } = await metricsAnswer(raw, services, state);
    return reply.header('content-type', type).send(text);
  });
}

/** The metrics page; metrics with names of accounts only for tokens that may read them. */
export async function metricsAnswer(
  { headers, url = '' }: IncomingMessage,
  services: OperationsServices,
  { metrics }: Pick<ServerState, 'metrics'>,
): Promise<LocalAnswer> {
  const query = Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? ''));
  const token = readToken(query, headers, undefined);
  const text = await metrics.text(token !== undefined && canReadLabels(token, services));
  return { status: 200, type: metrics.contentType, text };
}

/** A monitoring system has its own token: the admin token would allow it everything. */
const canReadLabels = (
  token: string,
  { adminToken, settings: { metricsToken } }: Pick<OperationsServices, 'adminToken' | 'settings'>,
): boolean =>
  isSameSecret(token, adminToken) || (metricsToken !== '' && isSameSecret(token, metricsToken));

/** The server stays ready with damaged files: all others are served. */
function readyText({ proofs }: Pick<Services, 'proofs'>): string {
  if (proofs.damagedCount === 0) return 'ready\n';
  const advice = 'see `tapedeck verify`';
  return `ready, but ${proofs.damagedCount} files of the lake are damaged: ${advice}\n`;
}

async function findUnreadyReason(
  services: OperationsServices,
  state: ServerState,
): Promise<string | undefined> {
  if (state.isDraining) return 'draining';
  const { database, folder, ingestion, series, sql: queries } = services;
  const pools = { reads: series.pool, SQL: queries.pool, loads: ingestion.pool };
  if (series.pool.isStarting) return 'the query processes are starting';
  const unready = Object.entries(pools).filter(([, pool]) => !pool.ready());
  if (unready.length > 0) {
    const kinds = unready.map(([kind]) => kind).join(' and ');
    return `no process can be started for ${kinds}: look at the limits of open files and processes`;
  }
  try {
    await sql`select 1`.execute(database);
    await access(folder.root, constants.W_OK);
    const { bavail, bsize } = await statfs(folder.root);
    const free = bavail * bsize;
    if (free < FREE_BYTES_MIN)
      return `the disk is full: ${free} bytes are free, writes are refused`;
    return undefined;
  } catch (error) {
    return reasonOf(error).replaceAll(folder.root, 'the data folder');
  }
}

/** Options that make the server speak HTTPS, when certificate and key are set. */
export async function readTls(
  settings: Settings,
): Promise<{ readonly https?: { readonly cert: Buffer; readonly key: Buffer } }> {
  if (settings.tlsCert === '') return {};
  const [cert, key] = await Promise.all([readFile(settings.tlsCert), readFile(settings.tlsKey)]);
  return { https: { cert, key } };
}
