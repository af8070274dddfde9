// Charged calls with their price: objects times weight.
import { h, type JSX } from 'preact';
import { apiPath } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { number, time } from '../../components/formats.ts';
import { Card, Empty, renderRequest } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';

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

const CALLS_MAX = 100;

export function Calls(): JSX.Element {
  const request = useApi<readonly ChargedCall[]>(
    apiPath(['account', 'usage', 'calls'], { limit: CALLS_MAX }),
  );
  return h(
    Card,
    {
      title: `Latest ${CALLS_MAX} charged calls`,
      flush: true,
      actions: h('button', { class: 'small', onClick: request.reload }, 'Refresh'),
    },
    renderRequest(request, 'charged calls', (rows) =>
      rows.length === 0
        ? h(Empty, { title: 'No charged calls yet' })
        : h(Table<ChargedCall>, { label: 'Charged calls', rows, columns: COLUMNS }),
    ),
  );
}

const COLUMNS = [
  { title: 'When', class: 'nowrap', show: (call: ChargedCall) => time(call.time) },
  { title: 'Dataset or stream', isHead: true, show: ({ key }: ChargedCall) => key },
  { title: 'Endpoint', class: 'soft', show: ({ endpoint }: ChargedCall) => endpoint },
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
