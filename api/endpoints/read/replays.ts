// Creates and controls replays, and serves their streams.
import { Type } from '../../../reads/request/schema.ts';
import {
  answerReplayed,
  CHANGE_REPLAY,
  changeReplay,
  CREATE_REPLAY,
  createReplay,
  deleteReplay,
  getReplay,
  listReplays,
} from '../../streams/replays.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { STREAM_PARAMETERS } from './streams.ts';

const ROW = { token: 'publishable', weight: 'free', parameters: [], failures: 'data' } as const;

const STATE = Type.Object({
  replayId: Type.String(),
  state: Type.Enum(['playing', 'paused', 'seeking', 'ended']),
  speed: Type.Union([Type.Number(), Type.Literal('max')]),
  atMs: Type.Integer({ description: 'position in the replayed time, epoch milliseconds' }),
  told: Type.Integer({ description: 'ticks so far' }),
  fault: Type.Optional(Type.String({ description: 'why it paused automatically' })),
});

export const REPLAYS: readonly Endpoint[] = [
  {
    ...ROW,
    id: 'createReplay',
    method: 'POST',
    path: '/replays',
    summary: 'Replays trades and best offers of stored days for at most 50 symbols.',
    body: {
      kind: 'json',
      schema: CREATE_REPLAY,
    },
    answer: STATE,
    handle: createReplay,
  },
  {
    ...ROW,
    id: 'listReplays',
    method: 'GET',
    path: '/replays',
    summary: "The account's replays and their positions.",
    answer: Type.Array(STATE),
    handle: listReplays,
  },
  {
    ...ROW,
    id: 'getReplay',
    method: 'GET',
    path: '/replays/:replay',
    summary: 'State and position of a replay.',
    answer: STATE,
    handle: getReplay,
  },
  {
    ...ROW,
    id: 'changeReplay',
    method: 'PATCH',
    path: '/replays/:replay',
    summary: 'Resumes or pauses a replay, sets its speed or time, or steps a number of ticks.',
    body: {
      kind: 'json',
      schema: CHANGE_REPLAY,
    },
    answer: STATE,
    handle: changeReplay,
  },
  {
    ...ROW,
    id: 'deleteReplay',
    method: 'DELETE',
    path: '/replays/:replay',
    summary: 'Ends a replay.',
    answer: Type.Object({
      success: Type.Literal(true),
      replayId: Type.String(),
    }),
    handle: deleteReplay,
  },
  {
    ...ROW,
    id: 'streamReplay',
    method: 'GET',
    path: '/replays/:replay/:stream',
    weight: '1 a message',
    parameters: STREAM_PARAMETERS,
    summary: 'A stream of ticks, of a replay: tops, last, deep, stocksUS, ….',
    answer: Type.String({ description: 'text/event-stream' }),
    handle: answerReplayed,
  },
];
