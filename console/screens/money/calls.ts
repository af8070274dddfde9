// Each charged call, explained: objects times weight.
import { h, type JSX } from 'preact';
import { pathOf } from '../../asking/ask.ts';
import { useAsk } from '../../asking/useAsk.ts';
import { number, time } from '../../showing/formats.ts';
import { Card, Empty, shown } from '../../showing/parts.ts';
import { Table } from '../../showing/table.ts';

interface ChargedCall {
  readonly requestId: string;
  readonly time: number;
  readonly endpoint: string;
  readonly token: string;
  readonly key: string;
  readonly objects: number;
  readonly weight: number;
  readonly messages: number;
  readonly premiumMessages: number;
}

const SHOWN = 100;

export function Calls(): JSX.Element {
  const asked = useAsk<readonly ChargedCall[]>(
    pathOf(['account', 'usage', 'calls'], { limit: SHOWN }),
  );
  return h(
    Card,
    {
      title: `Charged calls, the newest ${SHOWN}`,
      flush: true,
      actions: h('button', { class: 'small', onClick: asked.again }, 'Refresh'),
    },
    shown(asked, 'charged calls', (rows) =>
      rows.length === 0
        ? h(Empty, { title: 'No call was charged yet' })
        : h(Table<ChargedCall>, { label: 'Charged calls', rows, columns: COLUMNS }),
    ),
  );
}

const COLUMNS = [
  { title: 'When', class: 'nowrap', show: (call: ChargedCall) => time(call.time) },
  { title: 'What', isHead: true, show: ({ key }: ChargedCall) => key },
  { title: 'Asked by', class: 'soft', show: ({ endpoint }: ChargedCall) => endpoint },
  { title: 'Token', class: 'soft', show: ({ token }: ChargedCall) => token },
  { title: 'Objects', isNumber: true, show: ({ objects }: ChargedCall) => number(objects) },
  { title: '× weight', isNumber: true, show: ({ weight }: ChargedCall) => number(weight) },
  {
    title: '= messages',
    isNumber: true,
    show: ({ messages, premiumMessages }: ChargedCall) =>
      premiumMessages > 0 ? `${number(premiumMessages)} premium` : number(messages),
  },
  {
    title: 'Request',
    class: 'soft',
    show: ({ requestId }: ChargedCall) => h('code', null, requestId),
  },
];
