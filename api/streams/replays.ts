// Replays stored days through the same streams, under separate addresses.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Static } from 'typebox';
import { Type } from '../../reads/request/schema.ts';
import { Feeds } from '../../jobs/feeds/feeds.ts';
import { Replay, type Speed } from '../../jobs/feeds/replay.ts';
import { LiveBoard, QUOTE_TOPIC } from '../../market/live/liveBoard.ts';
import { LiveQuotes } from '../../market/live/liveQuotes.ts';
import type { TickReader } from '../../market/live/tick.ts';
import { captureReader } from '../../market/capture/capture.ts';
import { sourceFile } from '../../pipeline/sources/file.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { parseDay, REVERSED_RANGE } from '../../query/time/dates.ts';
import { Hub } from '../../store/bus/hub.ts';
import { Failure } from '../../store/base/failure.ts';
import { randomHex } from '../../store/base/random.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { ACCESS_FAILURES } from '../../reads/market/market.ts';
import { backgroundRequest } from '../../reads/rights/backgroundRequest.ts';
import type { Call, Streaming } from '../request/endpoint.ts';
import type { Answer } from '../../reads/request/answer.ts';
import { currentMoment } from '../../reads/series/moments.ts';
import { STREAM_ROWS, findStreamName } from '../../reads/live/streamTable.ts';
import { normalizeSymbol } from '../../reads/stock/knownSymbols.ts';
import { resolveTickers } from '../../reads/stock/symbology.ts';
import { answerStream } from './answerStream.ts';
import { withoutSandboxValues } from '../../reads/streams/sandboxValues.ts';
import { checkTier, DEEP, findEntitledInputs, TOPS } from '../../reads/streams/streamAccess.ts';
import type { OpenStreamServices } from './streamServices.ts';
import { createTickReader } from '../../reads/streams/storedTicks.ts';

const SYMBOLS_MAX = 50;
const SPEED_MAX = 10_000;
/** Maximum replays of a server, and of an account; ended ones are evicted, oldest first. */
const REPLAYS_MAX = 50;
const ACCOUNT_REPLAYS_MAX = 5;
const STEPS_MAX = 10_000;

const SPEED = Type.Union([
  Type.Number({ exclusiveMinimum: 0, maximum: SPEED_MAX }),
  Type.Literal('max'),
]);
const DAY = Type.String({ maxLength: 30 });

export const CREATE_REPLAY = Type.Object(
  {
    symbols: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: SYMBOLS_MAX,
      }),
    ),
    from: Type.Optional(DAY),
    to: Type.Optional(DAY),
    capture: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    speed: Type.Optional(SPEED),
    paused: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const CHANGE_REPLAY = Type.Object(
  {
    state: Type.Optional(Type.Enum(['playing', 'paused'])),
    speed: Type.Optional(SPEED),
    seek: Type.Optional(Type.Integer({ minimum: 0 })),
    step: Type.Optional(Type.Integer({ minimum: 1, maximum: STEPS_MAX })),
  },
  { additionalProperties: false },
);

interface Playing {
  readonly accountId: string;
  readonly replay: Replay;
  readonly streaming: Streaming;
}

/** Replays of a server by id; they end with the process. */
const REPLAYS = new WeakMap<Hub, Map<string, Playing>>();

function getReplays({ hub }: Streaming): Map<string, Playing> {
  const replays = REPLAYS.get(hub) ?? new Map<string, Playing>();
  REPLAYS.set(hub, replays);
  return replays;
}

/**
 * Replays stored days, or a capture.
 * @throws Failure NotFound if there are no ticks, Busy; SourceFailure of the file.
 */
export async function createReplay(call: Call, services: OpenStreamServices): Promise<Answer> {
  const { caller } = call;
  checkTier(caller);
  const body = call.json as Static<typeof CREATE_REPLAY>;
  const replays = getReplays(services.streams);
  checkRoom(replays, caller.accountId);
  const begin =
    body.capture === undefined
      ? await openStoredDays(body, call, services)
      : await openCapture(body.capture, body, call, services);
  const created = createPlaying(begin, body.speed ?? 1, caller, services);
  if (!(await created.replay.open())) throw new Failure('NotFound');
  checkRoom(replays, caller.accountId);
  const id = randomHex(8);
  replays.set(id, created);
  if (body.paused !== true) created.replay.play();
  return toAnswer(id, created);
}

type ReplayRequest = Static<typeof CREATE_REPLAY>;
type Begin = () => TickReader;

async function openStoredDays(
  request: ReplayRequest,
  call: Call,
  services: OpenStreamServices,
): Promise<Begin> {
  const readable = selectInputs(call, services);
  if (request.symbols === undefined || request.from === undefined) {
    throw new Failure('InvalidBody', 'symbols and from must be given, or a capture');
  }
  const from = parseDay('from', request.from);
  const to = request.to === undefined ? from : parseDay('to', request.to);
  if (to < from) throw new Failure('InvalidBody', REVERSED_RANGE);
  const requestedSymbols = [...new Set(request.symbols.map(normalizeSymbol))];
  const symbols = [...new Set(await resolveTickers(requestedSymbols, call, services))];
  const ownCall = withoutSandboxValues({
    ...backgroundRequest(call.caller),
    environment: call.environment,
  });
  const options = { from, to, readable, call: ownCall, services, at: currentMoment(services) };
  return () => createTickReader(symbols, options);
}

/** Selects inputs with books, or without them if the caller may not read books. @throws access failures. */
function selectInputs(
  call: Call,
  services: OpenStreamServices,
): ReturnType<typeof findEntitledInputs> {
  try {
    return findEntitledInputs(DEEP, call, services);
  } catch (error) {
    if (!(error instanceof Failure) || !ACCESS_FAILURES.has(error.type)) throw error;
    return findEntitledInputs(TOPS, call, services);
  }
}

/** Replays a capture, which only the owner of CORE may do, as with a live feed that is not stored. */
async function openCapture(
  name: string,
  { from, symbols, to }: ReplayRequest,
  call: Call,
  { accounts, lake, settings }: OpenStreamServices,
): Promise<Begin> {
  const { accountId } = call.caller;
  if (lake.directory.workspace(CORE)?.accountId !== accountId) {
    throw new Failure('EnterprisePermissionRequired');
  }
  if (from !== undefined || to !== undefined) {
    throw new Failure(
      'InvalidBody',
      'from and to are for stored days: a capture is played completely',
    );
  }
  const firstAccountId = accounts.list()[0]?.accountId;
  const path = await sourceFile({ ...settings, firstAccountId }, name, accountId);
  const selectedSymbols = symbols === undefined ? undefined : new Set(symbols.map(normalizeSymbol));
  return () => captureReader(path, (symbol) => selectedSymbols?.has(symbol) ?? true);
}

function createPlaying(
  begin: Begin,
  speed: Speed,
  { accountId }: Caller,
  { clock, streams }: OpenStreamServices,
): Playing {
  const hub = new Hub(clock);
  const board: LiveBoard = new LiveBoard((topic, symbol, make) => {
    if (topic === QUOTE_TOPIC) quotes.changed(symbol);
    else hub.publish(topic, symbol, make);
  });
  const quotes = new LiveQuotes({ board, clock, hub, onFault: () => undefined });
  const { open, records } = streams;
  const streaming = {
    board,
    feeds: new Feeds(),
    hub,
    open,
    quotes,
    records,
    isReplay: true,
  } as const;
  return {
    accountId,
    replay: new Replay(begin, { board, behind: () => hub.drain() }, speed),
    streaming,
  };
}

export async function listReplays(call: Call, services: OpenStreamServices): Promise<Answer> {
  const { accountId } = call.caller;
  const own = [...getReplays(services.streams)].filter(([, one]) => one.accountId === accountId);
  const value = own.map(([replayId, { replay }]) => ({ replayId, ...replay.state() }));
  return { kind: 'json', value, metering: 'free' };
}

export async function getReplay(call: Call, services: OpenStreamServices): Promise<Answer> {
  const [id, entry] = findReplay(call, services);
  return toAnswer(id, entry);
}

/** Maximum wait for a seek; a longer one continues in the background, and the state shows it. */
const MOVE_WAIT_MS = 5_000;

/** Applies changes in the order speed, seek, step, play. */
export async function changeReplay(call: Call, services: OpenStreamServices): Promise<Answer> {
  const [id, entry] = findReplay(call, services);
  const { replay } = entry;
  const { seek, speed, state, step } = call.json as Static<typeof CHANGE_REPLAY>;
  if (speed !== undefined) replay.setSpeed(speed);
  if (state === 'paused') replay.pause();
  const move = async (): Promise<void> => {
    if (seek !== undefined) await replay.seek(seek);
    if (step !== undefined) await replay.step(step);
    if (state === 'playing') replay.play();
  };
  await Promise.race([move(), sleep(MOVE_WAIT_MS, undefined, { ref: false })]);
  return toAnswer(id, entry);
}

export async function deleteReplay(call: Call, services: OpenStreamServices): Promise<Answer> {
  const [id, entry] = findReplay(call, services);
  remove(getReplays(services.streams), id, entry);
  return { kind: 'json', value: { success: true, replayId: id }, metering: 'free' };
}

/** Answers a stream of the original from a replay. */
export async function answerReplayed(call: Call, services: OpenStreamServices): Promise<Answer> {
  const [, { streaming }] = findReplay(call, services);
  const name = findStreamName(call.path['stream'] ?? '');
  const row = STREAM_ROWS.find((one) => one.name === name);
  if (row === undefined || row.kind === 'records') throw new Failure('NotFound');
  return answerStream(row, call, { ...services, streams: streaming });
}

function findReplay(call: Call, { streams }: OpenStreamServices): readonly [id: string, Playing] {
  const id = call.path['replay'] ?? '';
  const entry = getReplays(streams).get(id);
  if (entry === undefined || entry.accountId !== call.caller.accountId) {
    throw new Failure('NotFound');
  }
  return [id, entry];
}

const toAnswer = (replayId: string, { replay }: Playing): Answer => ({
  kind: 'json',
  value: { replayId, ...replay.state() },
  metering: 'free',
});

/** Makes room by removing ended replays. @throws Failure Busy. */
function checkRoom(replays: Map<string, Playing>, accountId: string): void {
  const isFull = (): boolean =>
    replays.size >= REPLAYS_MAX ||
    [...replays.values()].filter((one) => one.accountId === accountId).length >=
      ACCOUNT_REPLAYS_MAX;
  for (const [id, one] of replays) {
    if (!isFull()) return;
    const isOwn = one.accountId === accountId || replays.size >= REPLAYS_MAX;
    if (isOwn && one.replay.state().state === 'ended') remove(replays, id, one);
  }
  if (!isFull()) return;
  const most = `at most ${ACCOUNT_REPLAYS_MAX} of an account and ${REPLAYS_MAX} of a server`;
  throw new Failure('Busy', `too many replays play: ${most}`);
}

function remove(replays: Map<string, Playing>, id: string, { replay, streaming }: Playing): void {
  replay.close();
  streaming.hub.close();
  replays.delete(id);
}
