// Days that are stored, played again through the same streams, under an address of their own.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Static } from 'typebox';
import { Type } from '../request/body/schema.ts';
import { Feeds } from '../../jobs/feeds/feeds.ts';
import { Replay, type Speed } from '../../jobs/feeds/replay.ts';
import { LiveBoard, QUOTE_TOPIC } from '../../market/live/liveBoard.ts';
import { LiveQuotes } from '../../market/live/liveQuotes.ts';
import type { TickReader } from '../../market/live/tick.ts';
import { captureReader } from '../../market/capture/capture.ts';
import { sourceFile } from '../../pipeline/sources/file.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { parseDay } from '../../query/time/dates.ts';
import { Hub } from '../../store/bus/hub.ts';
import { Failure } from '../../store/base/failure.ts';
import { randomHex } from '../../store/base/random.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { callerOf } from '../auth/access.ts';
import { LACKING } from '../market/market.ts';
import { callOf } from '../auth/standingCall.ts';
import type { Answer, Call, Streaming } from '../request/endpoint.ts';
import { momentNow } from '../read/moments.ts';
import { STREAM_ROWS, streamName } from '../sse/streamTable.ts';
import { symbolOf } from '../stock/knownSymbols.ts';
import { tickersOf } from '../stock/symbology.ts';
import { answerStream } from './answerStream.ts';
import { plainly } from './disguise.ts';
import { checkTier, DEEP, entitledTo, type StreamServices, TOPS } from './entitled.ts';
import { ticksOf } from './storedTicks.ts';

const SYMBOLS_MAX = 50;
const SPEED_MAX = 10_000;
/** Of a server, and of an account; the one that nobody asked for longest goes, where it has ended. */
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

/** Replays of a server, by their ids; they are gone when it ends. */
const REPLAYS = new WeakMap<Hub, Map<string, Playing>>();

function replaysOf({ hub }: Streaming): Map<string, Playing> {
  const known = REPLAYS.get(hub) ?? new Map<string, Playing>();
  REPLAYS.set(hub, known);
  return known;
}

/**
 * Plays what is stored of some days, or a capture.
 * @throws Failure NotFound where there is nothing, Busy; SourceFailure of the file.
 */
export async function createReplay(call: Call, services: StreamServices): Promise<Answer> {
  const caller = callerOf(call.caller);
  checkTier(caller);
  const body = call.json as Static<typeof CREATE_REPLAY>;
  const replays = replaysOf(services.streams);
  checkRoom(replays, caller.accountId);
  const begin =
    body.capture === undefined
      ? await storedDays(body, call, services)
      : await captured(body.capture, body, call, services);
  const made = playing(begin, body.speed ?? 1, caller, services);
  if (!(await made.replay.open())) throw new Failure('NotFound');
  checkRoom(replays, caller.accountId);
  const id = randomHex(8);
  replays.set(id, made);
  if (body.paused !== true) made.replay.play();
  return told(id, made);
}

type Wanted = Static<typeof CREATE_REPLAY>;
type Begin = () => TickReader;

async function storedDays(wanted: Wanted, call: Call, services: StreamServices): Promise<Begin> {
  const readable = depthOrTops(call, services);
  if (wanted.symbols === undefined || wanted.from === undefined) {
    throw new Failure('InvalidBody', 'symbols and from must be given, or a capture');
  }
  const from = parseDay('from', wanted.from);
  const to = wanted.to === undefined ? from : parseDay('to', wanted.to);
  if (to < from) throw new Failure('InvalidBody', 'to must not be before from');
  const named = [...new Set(wanted.symbols.map(symbolOf))];
  const symbols = [...new Set(await tickersOf(named, call, services))];
  const standing = plainly({ ...callOf(callerOf(call.caller)), environment: call.environment });
  const asking = { from, to, readable, call: standing, services, at: momentNow(services) };
  return () => ticksOf(symbols, asking);
}

/** Who may not read books has a replay without. @throws Failure of what else the caller lacks. */
function depthOrTops(call: Call, services: StreamServices): ReturnType<typeof entitledTo> {
  try {
    return entitledTo(DEEP, call, services);
  } catch (error) {
    if (!(error instanceof Failure) || !LACKING.has(error.type)) throw error;
    return entitledTo(TOPS, call, services);
  }
}

/** A feed that nobody stored is the owner's of CORE alone, as one of now is. */
async function captured(
  name: string,
  { from, symbols, to }: Wanted,
  call: Call,
  { accounts, lake, settings }: StreamServices,
): Promise<Begin> {
  const { accountId } = callerOf(call.caller);
  if (lake.directory.workspace(CORE)?.accountId !== accountId) {
    throw new Failure('EnterprisePermissionRequired');
  }
  if (from !== undefined || to !== undefined) {
    throw new Failure('InvalidBody', 'from and to are of stored days: a capture is played whole');
  }
  const firstAccountId = accounts.list()[0]?.accountId;
  const path = await sourceFile({ ...settings, firstAccountId }, name, accountId);
  const known = symbols === undefined ? undefined : new Set(symbols.map(symbolOf));
  return () => captureReader(path, (symbol) => known?.has(symbol) ?? true);
}

function playing(
  begin: Begin,
  speed: Speed,
  { accountId }: Caller,
  { clock, streams }: StreamServices,
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

export async function listReplays(call: Call, services: StreamServices): Promise<Answer> {
  const { accountId } = callerOf(call.caller);
  const own = [...replaysOf(services.streams)].filter(([, one]) => one.accountId === accountId);
  const value = own.map(([replayId, { replay }]) => ({ replayId, ...replay.state() }));
  return { kind: 'json', value, metering: 'free' };
}

export async function getReplay(call: Call, services: StreamServices): Promise<Answer> {
  const [id, found] = foundOf(call, services);
  return told(id, found);
}

/** A way to another time that takes longer is not waited for: it goes on, and its state tells so. */
const MOVE_WAIT_MS = 5_000;

/** Speed, then place, then steps, then whether it goes on. */
export async function changeReplay(call: Call, services: StreamServices): Promise<Answer> {
  const [id, found] = foundOf(call, services);
  const { replay } = found;
  const { seek, speed, state, step } = call.json as Static<typeof CHANGE_REPLAY>;
  if (speed !== undefined) replay.setSpeed(speed);
  if (state === 'paused') replay.pause();
  const move = async (): Promise<void> => {
    if (seek !== undefined) await replay.seek(seek);
    if (step !== undefined) await replay.step(step);
    if (state === 'playing') replay.play();
  };
  await Promise.race([move(), sleep(MOVE_WAIT_MS, undefined, { ref: false })]);
  return told(id, found);
}

export async function deleteReplay(call: Call, services: StreamServices): Promise<Answer> {
  const [id, found] = foundOf(call, services);
  remove(replaysOf(services.streams), id, found);
  return { kind: 'json', value: { success: true, replayId: id }, metering: 'free' };
}

/** A stream of the original, of a replay. */
export async function answerReplayed(call: Call, services: StreamServices): Promise<Answer> {
  const [, { streaming }] = foundOf(call, services);
  const name = streamName(call.path['stream'] ?? '');
  const row = STREAM_ROWS.find((one) => one.name === name);
  if (row === undefined || row.kind === 'records') throw new Failure('NotFound');
  return answerStream(row, call, { ...services, streams: streaming });
}

function foundOf(call: Call, { streams }: StreamServices): readonly [id: string, Playing] {
  const id = call.path['replay'] ?? '';
  const found = replaysOf(streams).get(id);
  if (found === undefined || found.accountId !== callerOf(call.caller).accountId) {
    throw new Failure('NotFound');
  }
  return [id, found];
}

const told = (replayId: string, { replay }: Playing): Answer => ({
  kind: 'json',
  value: { replayId, ...replay.state() },
  metering: 'free',
});

/** One that has ended makes room. @throws Failure Busy. */
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
