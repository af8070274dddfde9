// Stored days played again: made, listened to, held, hurried, ended.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed, useEvery } from '../../asking/useAsk.ts';
import { number, time } from '../../showing/formats.ts';
import { Badge, Card, Choice, Empty, Failed, shown, Text } from '../../showing/parts.ts';
import { Table } from '../../showing/table.ts';
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

const LOOK_MS = 2_000;
const SPEEDS = ['1', '10', '60', '600', 'max'].map(
  (speed) => [speed, speed === 'max' ? 'as fast as it goes' : `${speed} ×`] as const,
);

const speedOf = (speed: string): number | string => (speed === 'max' ? speed : Number(speed));

export function Replays({ onListen }: ReplaysProps): JSX.Element {
  const asked = useAsk<readonly Replay[]>(pathOf(['replays']));
  const { isBusy, problem, run } = useDeed();
  const isPlaying = asked.answer?.value.some(({ state }) => state === 'playing') === true;
  useEvery(LOOK_MS, isPlaying, asked.again);
  const act = (path: readonly string[], method: 'PATCH' | 'DELETE' | 'POST', json?: object): void =>
    run(async () => {
      await ask(pathOf(['replays', ...path]), json === undefined ? { method } : { method, json });
      asked.again();
    });
  return h(
    Card,
    { title: 'Replays of stored days', flush: true },
    h('div', { class: 'body' }, h(ReplayForm, { isBusy, onMake: (json) => act([], 'POST', json) })),
    problem === undefined ? null : h(Failed, { problem }),
    shown(asked, 'replays', (rows) =>
      rows.length === 0
        ? h(
            Empty,
            { title: 'Nothing is played' },
            'A replay is gone when the server ends; an account has five.',
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
  readonly onMake: (json: object) => void;
}

function ReplayForm({ isBusy, onMake }: FormProps): JSX.Element {
  const [symbols, setSymbols] = useState('');
  const [from, setFrom] = useState('');
  const [speed, setSpeed] = useState('60');
  const make = (event: Event): void => {
    event.preventDefault();
    const named = symbols.split(/[\s,]+/).filter((one) => one !== '');
    onMake({ symbols: named, from, speed: speedOf(speed), paused: true });
  };
  return h(
    'form',
    { class: 'form', onSubmit: make },
    h(Text, { label: 'Symbols to play', value: symbols, onText: setSymbols, required: true }),
    h(Text, { label: 'From day', type: 'date', value: from, onText: setFrom, required: true }),
    h(Choice, { label: 'Speed', value: speed, options: SPEEDS, onPick: setSpeed }),
    h('button', { type: 'submit', disabled: isBusy }, 'Make a replay'),
  );
}

type OnAct = (replay: Replay, method: 'PATCH' | 'DELETE', json?: object) => void;

function Deeds({ onAct, replay }: { readonly replay: Replay; readonly onAct: OnAct }): JSX.Element {
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
      '10 ticks on',
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
  { title: 'Is at', class: 'nowrap', show: ({ atMs }: Replay) => time(atMs) },
  { title: 'Speed', isNumber: true, show: ({ speed }: Replay) => `${speed} ×` },
  { title: 'Told', isNumber: true, show: ({ told }: Replay) => number(told) },
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
              onClick: () => onListen(pathOf(['replays', replayId, name])),
            },
            name,
          ),
        ),
      ),
  },
  { title: 'Do', show: (replay: Replay) => h(Deeds, { replay, onAct }) },
];
