// Streams screen: the live messages of any stream, and replays of stored days.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPath } from '../../api/client.ts';
import { Card, Choice, Head, Text } from '../../components/parts.ts';
import { Frames } from './frames.ts';
import { Replays } from './replays.ts';
import { DATASET, STREAMS } from './streamNames.ts';

interface StreamsProps {
  readonly workspace: string;
}

export function Streams({ workspace }: StreamsProps): JSX.Element {
  const [name, setName] = useState<string>('stocksUS1Second');
  const [symbols, setSymbols] = useState('');
  const [dataset, setDataset] = useState('');
  const [path, setPath] = useState<string | undefined>(undefined);
  const isRecords = name === DATASET;
  const connect = (event: Event): void => {
    event.preventDefault();
    const [space = '', id] = dataset.includes('.') ? dataset.split('.') : [workspace, dataset];
    setPath(
      isRecords
        ? apiPath(['stream', space, id ?? ''], { keys: symbols.trim() })
        : apiPath([name], { symbols: symbols.trim() }),
    );
  };
  return h(
    'div',
    null,
    h(Head, {
      title: 'Streams',
      about: 'Each message received is charged at the weight of its stream.',
    }),
    h(
      Card,
      { title: 'Listen' },
      h(
        'form',
        { class: 'form', onSubmit: connect },
        h(Choice, { label: 'Stream', value: name, options: STREAMS, onPick: setName }),
        isRecords
          ? h(Text, {
              label: 'Dataset',
              value: dataset,
              onText: setDataset,
              required: true,
              placeholder: `PRICES, or ${workspace || 'WS'}.PRICES`,
            })
          : null,
        h(Text, {
          label: isRecords ? 'Keys' : 'Symbols',
          value: symbols,
          onText: setSymbols,
          hint: `Separate ${isRecords ? 'keys' : 'symbols'} with commas; leave empty for all.`,
        }),
        h('button', { class: 'primary', type: 'submit' }, 'Connect'),
      ),
    ),
    path === undefined ? null : h(Frames, { key: path, path, onClose: () => setPath(undefined) }),
    h(Replays, { onListen: setPath }),
  );
}
