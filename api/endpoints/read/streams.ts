// Rows of streams. If a stream shares its path with a REST state, the `Accept` header selects one.
import { Type } from '../../../reads/request/schema.ts';
import {
  answerDeep,
  answerDeepPart,
  answerLast,
  answerTops,
} from '../../../reads/streams/liveStates.ts';
import { DEEP_SHAPE, LAST_SHAPE, TOPS_SHAPE } from '../../../reads/streams/liveShapes.ts';
import { ANY, shapedAnswer } from '../../request/rows.ts';
import { CHANGE_STREAM, changeStream } from '../../streams/updateSubscription.ts';
import { answerRecords } from '../../streams/recordStreams.ts';
import { answerStream } from '../../streams/answerStream.ts';
import { type StreamRow, STREAM_ROWS } from '../../../reads/live/streamTable.ts';
import { FIXED_FORMATS, FIXED_PARAMETERS } from '../../../reads/market/reference/fixedPrice.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import type { Parameter } from '../../../reads/request/parameters.ts';

const HEARTBEAT_SECONDS_MAX = 300;
/** The year 2100. */
const TIME_MS_MAX = 4_102_444_800_000;

const PARAMETERS: readonly Parameter[] = [
  {
    kind: 'list',
    name: 'symbols',
    help: 'At most 50; without them, or with `firehose`, all symbols (tier scale).',
  },
  { kind: 'boolean', name: 'nosnapshot', help: 'true: only what happens from now on.' },
  {
    kind: 'integer',
    name: 'snapshotAsOf',
    least: 0,
    most: TIME_MS_MAX,
    help: 'Epoch milliseconds: tops and last begin with all that is stored since then.',
  },
  {
    kind: 'integer',
    name: 'heartbeat',
    least: 1,
    most: HEARTBEAT_SECONDS_MAX,
    help: 'Seconds without a message after which a comment is sent; none by default.',
  },
  { kind: 'boolean', name: 'ids', help: 'true: each message has an id to go on from.' },
  {
    kind: 'text',
    name: 'resumeFrom',
    pattern: /^[\w-]{1,40}$/,
    rule: 'must be an id',
    help: 'Id of the last message that was read, as the header Last-Event-ID.',
  },
  { kind: 'boolean', name: 'events', help: 'true: gaps and the end are sent as named events.' },
];

const CHANNELS: Parameter = {
  kind: 'list',
  name: 'channels',
  help: 'Channels of deep: all of them by default.',
};

const EVENTS = Type.String({
  description: 'text/event-stream: `data: [message]`, CRLF CRLF, and so on',
});

/** Parameters of every stream of ticks. */
export const STREAM_PARAMETERS: readonly Parameter[] = [...PARAMETERS, CHANNELS];

const toEndpoint = (row: StreamRow): Endpoint => ({
  id: row.name
    .replaceAll(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase())
    .replace(/^/, 'stream'),
  method: 'GET',
  path: `/${row.name}`,
  token: 'publishable',
  summary: row.summary,
  weight: STREAM_STATES.has(row.name) ? 'free' : '1 a message',
  parameters: [
    ...PARAMETERS,
    ...(row.name === 'deep' ? [CHANNELS] : []),
    ...(STREAM_STATES.has(row.name) ? FIXED_PARAMETERS : []),
  ],
  ...(STREAM_STATES.get(row.name)?.schema ?? { answer: EVENTS }),
  events: STREAM_STATES.has(row.name) ? 'too' : 'only',
  ...(STREAM_STATES.has(row.name) ? { formats: FIXED_FORMATS } : {}),
  failures: 'data',
  inTest: true,
  handle: (call, services) => {
    const state = STREAM_STATES.get(row.name)?.handle;
    const isState = state !== undefined && !call.accept.includes('text/event-stream');
    return isState ? state(call, services) : answerStream(row, call, services);
  },
});

interface StreamState {
  readonly schema: Pick<Endpoint, 'answer' | 'shape'>;
  readonly handle: Endpoint['handle'];
}

/** REST states that share their path with a stream: the `Accept` header selects one. */
const STREAM_STATES: ReadonlyMap<string, StreamState> = new Map([
  ['tops', { schema: shapedAnswer(TOPS_SHAPE), handle: answerTops }],
  ['last', { schema: shapedAnswer(LAST_SHAPE), handle: answerLast }],
  ['deep', { schema: shapedAnswer(DEEP_SHAPE), handle: answerDeep }],
]);

const SYMBOLS: Parameter = {
  kind: 'list',
  name: 'symbols',
  help: 'At most 50; all of them by default.',
};
const STATE_PARAMETERS = [SYMBOLS, ...FIXED_PARAMETERS];

const stateEndpoint = (
  row: Pick<Endpoint, 'id' | 'path' | 'summary' | 'answer' | 'shape' | 'handle'>,
): Endpoint => ({
  ...row,
  method: 'GET',
  token: 'publishable',
  weight: 'free',
  parameters: STATE_PARAMETERS,
  formats: FIXED_FORMATS,
  failures: 'data',
  inTest: true,
});

const KEYS: Parameter = {
  kind: 'list',
  name: 'keys',
  help: 'Records of these keys, at most 50; of all by default.',
};

const DELETIONS: Parameter = {
  kind: 'boolean',
  name: 'deletions',
  help: 'true: sends deleted records too, as `{"type":"deleted"}` with the properties of their index.',
};

/** The stream of any dataset. */
const streamRecords: Endpoint = {
  id: 'streamRecords',
  method: 'GET',
  path: '/stream/:workspace/:id',
  token: 'publishable',
  summary: 'The records of a dataset as they are written, by a load or a push.',
  weight: "the dataset's weight a message",
  parameters: [KEYS, DELETIONS, ...PARAMETERS.filter(({ name }) => name !== 'symbols')],
  answer: EVENTS,
  events: 'only',
  failures: 'data',
  inTest: true,
  handle: answerRecords,
};

const changeStreamOf: Endpoint = {
  id: 'changeStream',
  method: 'POST',
  path: '/stream/subscriptions/:connection',
  token: 'publishable',
  summary:
    'Sets other symbols, keys or channels of an open stream; its header `-stream-id` names it.',
  weight: 'free',
  parameters: [],
  body: {
    kind: 'json',
    schema: CHANGE_STREAM,
  },
  answer: Type.Object({
    success: Type.Literal(true),
    symbols: Type.Union([Type.Literal('all'), Type.Array(Type.String())]),
    messages: Type.Integer({ description: 'charged so far' }),
    messagesPerHour: Type.Integer({ description: 'rate of the last hour' }),
  }),
  failures: 'data',
  handle: changeStream,
};

export const STREAMS: readonly Endpoint[] = [
  changeStreamOf,
  streamRecords,
  ...STREAM_ROWS.map(toEndpoint),
  stateEndpoint({
    id: 'getTopsLast',
    path: '/tops/last',
    summary: 'The last sale of each symbol.',
    ...shapedAnswer(LAST_SHAPE),
    handle: answerLast,
  }),
  stateEndpoint({
    id: 'getDeepPart',
    path: '/deep/:channel',
    summary: 'One channel of deep, by symbol.',
    answer: ANY,
    handle: answerDeepPart,
  }),
];
