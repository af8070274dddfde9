// Replays of stored days: create, listen, pause, step and end.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction, useInterval } from '../../api/useApi.ts';
import { number, time } from '../../components/formats.ts';
import { Badge, Card, Choice, Empty, Failed, renderRequest, Text } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';
import { REPLAYED } from './streamNames.ts';

interface Replay {
  readonly replayId: string;
  readonly state: string;
  readonly speed: number | string;
  readonly atMs: number;
  readonly told: number;
  readonly fault?: string;
}

interface ReplaysProps {
  readonly onListen: (path: string) => void;
}

const POLL_MS = 2_000;
const SPEEDS = ['1', '10', '60', '600', 'max'].map(
  (speed) => [speed, speed === 'max' ? 'as fast as possible' : `${speed} ×`] as const,
);

const parseSpeed = (speed: string): number | string => (speed === 'max' ? speed : Number(speed));

export function Replays({ onListen }: ReplaysProps): JSX.Element {
  const request = useApi<readonly Replay[]>(apiPath(['replays']));
  const { isBusy, problem, run } = useAction();
  const isPlaying = request.answer?.value.some(({ state }) => state === 'playing') === true;
  useInterval(POLL_MS, isPlaying, request.reload);
  const act = (path: readonly string[], method: 'PATCH' | 'DELETE' | 'POST', json?: object): void =>
    run(async () => {
      await callApi(
        apiPath(['replays', ...path]),
        json === undefined ? { method } : { method, json },
      );
      request.reload();
    });
  return h(
    Card,
    { title: 'Replays of stored days', flush: true },
    h(
      'div',
      { class: 'body' },
      h(ReplayForm, { isBusy, onCreate: (json) => act([], 'POST', json) }),
    ),
    problem === undefined ? null : h(Failed, { problem }),
    renderRequest(request, 'replays', (rows) =>
      rows.length === 0
        ? h(
            Empty,
            { title: 'No replays' },
            'Replays are lost when the server stops. An account can have five.',
          )
        : h(Table<Replay>, {
            label: 'Replays',
            rows,
            columns: columnsFor(onListen, ({ replayId }, method, json) =>
              act([replayId], method, json),
            ),
          }),
    ),
  );
}

interface FormProps {
  readonly isBusy: boolean;
  readonly onCreate: (json: object) => void;
}

function ReplayForm({ isBusy, onCreate }: FormProps): JSX.Element {
  const [symbols, setSymbols] = useState('');
  const [from, setFrom] = useState('');
  const [speed, setSpeed] = useState('60');
  const create = (event: Event): void => {
    event.preventDefault();
    const symbolList = symbols.split(/[\s,]+/).filter((one) => one !== '');
    onCreate({ symbols: symbolList, from, speed: parseSpeed(speed), paused: true });
  };
  return h(
    'form',
    { class: 'form', onSubmit: create },
    h(Text, { label: 'Symbols to play', value: symbols, onText: setSymbols, required: true }),
    h(Text, { label: 'From day', type: 'date', value: from, onText: setFrom, required: true }),
    h(Choice, { label: 'Speed', value: speed, options: SPEEDS, onPick: setSpeed }),
    h('button', { type: 'submit', disabled: isBusy }, 'Create a replay'),
  );
}

type OnAct = (replay: Replay, method: 'PATCH' | 'DELETE', json?: object) => void;

function ReplayActions({
  onAct,
  replay,
}: {
  readonly replay: Replay;
  readonly onAct: OnAct;
}): JSX.Element {
  const other = replay.state === 'playing' ? 'paused' : 'playing';
  return h(
    'div',
    { class: 'row-of', style: { flexWrap: 'nowrap' } },
    h(
      'button',
      { class: 'small', onClick: () => onAct(replay, 'PATCH', { state: other }) },
      other === 'paused' ? 'Pause' : 'Play',
    ),
    h(
      'button',
      { class: 'small', onClick: () => onAct(replay, 'PATCH', { step: 10 }) },
      'Step 10 ticks',
    ),
    h('button', { class: 'small danger', onClick: () => onAct(replay, 'DELETE') }, 'End'),
  );
}

const columnsFor = (onListen: (path: string) => void, onAct: OnAct) => [
  {
    title: 'Replay',
    isHead: true,
    show: ({ replayId }: Replay) => h('code', null, replayId.slice(0, 8)),
  },
  {
    title: 'State',
    show: ({ fault, state }: Replay) => [
      h(Badge, { text: state, tone: state === 'playing' ? 'good' : 'warn' }),
      fault === undefined ? null : ` ${fault}`,
    ],
  },
  { title: 'Position', class: 'nowrap', show: ({ atMs }: Replay) => time(atMs) },
  { title: 'Speed', isNumber: true, show: ({ speed }: Replay) => `${speed} ×` },
  { title: 'Messages', isNumber: true, show: (replay: Replay) => number(replay.told) },
  {
    title: 'Listen',
    show: ({ replayId }: Replay) =>
      h(
        'div',
        { class: 'row-of', style: { flexWrap: 'nowrap' } },
        REPLAYED.map((name) =>
          h(
            'button',
            {
              key: name,
              class: 'small',
              'aria-label': `Listen to ${name} of ${replayId.slice(0, 8)}`,
              onClick: () => onListen(apiPath(['replays', replayId, name])),
            },
            name,
          ),
        ),
      ),
  },
  { title: 'Actions', show: (replay: Replay) => h(ReplayActions, { replay, onAct }) },
];
