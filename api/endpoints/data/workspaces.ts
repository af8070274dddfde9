// Workspaces and their job logs.
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import { createWorkspace as makeWorkspace } from '../../../store/lake/datasetEdits.ts';
import { LEVELS, listLog } from '../../../store/work/jobs.ts';
import { Failure } from '../../../store/base/failure.ts';
import {
  requireManager,
  ownWorkspaces,
  findManagedWorkspace,
} from '../../../reads/rights/access.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { refuse, textOf } from '../../../reads/request/parameters.ts';

const WORKSPACE = Type.Object({
  workspace: Type.String(),
  owner: Type.String(),
  default: Type.Boolean(),
});

const STORAGE = Type.Object({
  live: Type.Integer(),
  history: Type.Integer(),
  limit: Type.Integer(),
});

export const listWorkspaces: Endpoint = {
  id: 'listWorkspaces',
  method: 'GET',
  path: '/workspaces',
  token: 'secret',
  inTest: true,
  summary:
    "The account's workspaces with their storage in bytes; the default one of /time-series first.",
  weight: 'free',
  parameters: [],
  answer: Type.Array(Type.Object({ ...WORKSPACE.properties, storage: STORAGE })),
  failures: 'workspace',
  handle: async (call, { lake, storage }) => {
    const caller = requireManager(call.caller);
    const limit = caller.tier.storageBytesMax;
    const value = await Promise.all(
      ownWorkspaces(caller, lake).map(async ({ workspace, accountId }, index) => ({
        workspace,
        owner: accountId,
        default: index === 0,
        storage: { ...(await storage.workspaceBytes(workspace)), limit },
      })),
    );
    return { kind: 'json', value, metering: 'free' };
  },
};

const CREATE = Type.Object({ name: Type.String({ minLength: 1, maxLength: 128 }) });

export const createWorkspace: Endpoint = {
  id: 'createWorkspace',
  method: 'POST',
  path: '/workspaces',
  token: 'secret',
  summary: "Creates a workspace; its name is permanent. The operator's CORE exists already.",
  weight: 'free',
  parameters: [],
  body: { kind: 'json', schema: CREATE },
  answer: Type.Object({
    success: Type.Literal(true),
    message: Type.String(),
    workspace: Type.String(),
  }),
  failures: 'workspace',
  handle: async (call, { accounts, clock, lake }) => {
    const caller = requireManager(call.caller);
    const { accountId } = caller;
    const { name } = call.json as Static<typeof CREATE>;
    const operator = accounts.list()[0]?.accountId;
    if (name.toUpperCase() === CORE && (name !== CORE || accountId !== operator)) {
      throw new Failure('InvalidBody', `name must not be ${CORE}: it is the operator's`);
    }
    // Older programs create it themselves, although the first start has created it.
    const core = name === CORE ? lake.directory.workspace(CORE) : undefined;
    const isExisting = core?.accountId === accountId;
    const { workspace } = isExisting ? core : await makeWorkspace(lake, name, accountId, clock());
    const value = { success: true, message: 'Workspace has been created', workspace };
    return { kind: 'json', value, metering: 'free' };
  },
};

export const changeWorkspace: Endpoint = {
  id: 'changeWorkspace',
  method: 'PATCH',
  path: '/workspaces/:workspace',
  token: 'secret',
  summary: 'Makes a workspace the default one, in which /time-series resolves ids.',
  weight: 'free',
  parameters: [],
  body: { kind: 'json', schema: Type.Object({ default: Type.Literal(true) }) },
  answer: WORKSPACE,
  failures: 'workspace',
  handle: async (call, { accounts, lake }) => {
    const { caller } = call;
    const { workspace } = findManagedWorkspace(caller, call.path['workspace'] ?? '', lake);
    const { accountId, tokenId } = caller;
    await accounts.changeAccount(accountId, { defaultWorkspace: workspace }, tokenId);
    const value = { workspace, owner: accountId, default: true };
    return { kind: 'json', value, metering: 'free' };
  },
};

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const;

export const getLogs: Endpoint = {
  id: 'getLogs',
  method: 'GET',
  path: '/logs/:workspace',
  token: 'secret',
  summary: 'The log lines of jobs in a workspace, oldest first, at most the newest 1,000.',
  weight: 'free',
  parameters: [
    {
      kind: 'text',
      name: 'period',
      help: 'How far back: a number and m, h, d or w; 1d by default.',
      pattern: /^[1-9]\d{0,4}[mhdw]$/,
      rule: 'must be a number and m, h, d or w, such as 24h',
    },
    {
      kind: 'choice',
      name: 'level',
      choices: Object.keys(LEVELS),
      help: 'Lines of this level and those above.',
    },
    { kind: 'text', name: 'jobId', help: 'Lines of one job.' },
    ...LIST_PARAMETERS.filter(({ name }) => name !== 'sort'),
    {
      kind: 'choice',
      name: 'sort',
      choices: ['asc', 'desc'],
      help: 'Order by time; asc by default.',
    },
  ],
  answer: Type.Array(
    Type.Object({
      timestamp: Type.Integer(),
      message: Type.String(),
      severity: Type.String(),
      level: Type.Integer(),
      jobId: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  failures: 'workspace',
  handle: async (call, { clock, database, lake, settings }) => {
    const { caller } = call;
    const { workspace } = findManagedWorkspace(caller, call.path['workspace'] ?? '', lake);
    const listed = listRange({ sort: 'asc', ...call.query }, settings.zone);
    const period = textOf(call.query, 'period');
    // The default period applies only without explicit days.
    const defaultPeriod =
      listed.fromMs === undefined && listed.untilMs === undefined ? '1d' : undefined;
    const periodText = period ?? defaultPeriod;
    const sinceMs = periodText === undefined ? 0 : clock() - parsePeriod(periodText);
    const range = { ...listed, fromMs: Math.max(sinceMs, listed.fromMs ?? 0) };
    const jobId = textOf(call.query, 'jobId');
    const levelMin = LEVELS[textOf(call.query, 'level') ?? 'info'] ?? 0;
    const severities = Object.keys(LEVELS).filter((name) => (LEVELS[name] ?? 0) >= levelMin);
    const filter = { workspace, severities, jobId };
    const lines = await listLog(database, filter, range);
    const value = lines.map((line) => ({
      timestamp: line.time_ms,
      message: line.message,
      severity: line.severity,
      level: LEVELS[line.severity] ?? 30,
      jobId: line.job_id,
    }));
    return { kind: 'json', value, metering: 'free' };
  },
};

function parsePeriod(text: string): number {
  const unit = text.at(-1);
  if (unit === 'm' || unit === 'h' || unit === 'd' || unit === 'w') {
    return Number(text.slice(0, -1)) * UNITS_MS[unit];
  }
  return refuse('period', 'must be a number and m, h, d or w');
}
