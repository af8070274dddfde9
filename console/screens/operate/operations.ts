// Operations screen: problems and status of the server. It requires the operator's token.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { apiPath } from '../../api/client.ts';
import { onSession, operatorToken, setOperatorToken } from '../../api/session.ts';
import { useApi } from '../../api/useApi.ts';
import { bytes, duration, number, plural, time } from '../../components/formats.ts';
import {
  Badge,
  Card,
  Empty,
  Facts,
  Failed,
  Field,
  Head,
  renderRequest,
} from '../../components/parts.ts';
import { type Row, Sheet } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';
import { Accounts, Ledger } from './evidence.ts';

interface Status {
  readonly version: string;
  readonly time: number;
  readonly schedules: readonly Schedule[];
  readonly feeds: readonly Row[];
  readonly jobs: { readonly running: number; readonly waiting: number };
  readonly ledger: { readonly waiting: number };
  readonly storage: readonly StorageUse[];
  readonly disk: { readonly free: number; readonly size: number };
  readonly backup: { readonly time?: number } | null;
  readonly problems: readonly StatusProblem[];
}

interface Schedule {
  readonly workspace: string;
  readonly dataset: string;
  readonly schedule: string;
  readonly state: string;
  readonly next: number | null;
  readonly lastSuccess: number | null;
  readonly failedInARow: number;
}

interface StorageUse {
  readonly workspace: string;
  readonly live: number;
  readonly history: number;
  readonly limit: number;
}

interface StatusProblem {
  readonly level: string;
  readonly what: string;
  readonly advice: string;
}

export function Operations(): JSX.Element {
  const [token, setToken] = useState(operatorToken);
  useEffect(() => onSession(() => setToken(operatorToken())), []);
  return h(
    'div',
    null,
    h(Head, { title: 'Operations' }),
    token === '' ? h(OperatorSignIn, {}) : h(OperationsContent, { key: token }),
  );
}

function OperatorSignIn(): JSX.Element {
  const [text, setText] = useState('');
  const open = (event: Event): void => {
    event.preventDefault();
    setOperatorToken(text.trim());
  };
  return h(
    Card,
    { title: 'Operator sign-in' },
    h(
      'form',
      { class: 'stack', onSubmit: open, style: { maxWidth: '460px' } },
      h(
        'p',
        { class: 'soft' },
        'This screen covers the whole server and requires the operator’s token, from the file ',
        h('code', null, 'admin-token'),
        ' of the data folder. The token is kept only in memory.',
      ),
      h(
        Field,
        { label: 'Operator’s token' },
        h('input', {
          type: 'password',
          autoComplete: 'off',
          required: true,
          value: text,
          onInput: (event: Event) => setText((event.target as HTMLInputElement).value),
        }),
      ),
      h('div', null, h('button', { class: 'primary', type: 'submit' }, 'Open')),
    ),
  );
}

const AS_OPERATOR = { as: 'operator' } as const;

function OperationsContent(): JSX.Element {
  const request = useApi<Status>(apiPath(['admin', 'status']), AS_OPERATOR);
  if (request.problem?.status === 401 || request.problem?.status === 403) {
    return h(
      'div',
      { class: 'stack' },
      h(Failed, { problem: request.problem }),
      h(OperatorSignIn, {}),
    );
  }
  return h(
    'div',
    null,
    renderRequest(request, 'the server status', (status) =>
      h(StatusView, { status, reload: request.reload }),
    ),
    h(Ledger, {}),
    h(Accounts, {}),
  );
}

interface StatusViewProps {
  readonly status: Status;
  readonly reload: () => void;
}

function StatusView({ reload, status }: StatusViewProps): JSX.Element {
  const { backup, disk, jobs, ledger, problems, version } = status;
  return h(
    'div',
    null,
    h(
      Card,
      {
        title: problems.length === 0 ? 'No problems' : plural(problems.length, 'problem'),
        flush: true,
        actions: h('button', { class: 'small', onClick: reload }, 'Refresh'),
      },
      problems.length === 0
        ? h(Empty, { title: 'Everything works' }, `As of ${time(status.time)}.`)
        : h(Table<StatusProblem>, { label: 'Problems', rows: problems, columns: PROBLEM_COLUMNS }),
    ),
    h(
      Card,
      { title: 'Server' },
      h(Facts, {
        of: [
          ['Version', version],
          ['Server time', time(status.time)],
          ['Jobs running', number(jobs.running)],
          ['Jobs waiting', number(jobs.waiting)],
          ['Charges not yet written', number(ledger.waiting)],
          ['Disk free', `${bytes(disk.free)} of ${bytes(disk.size)}`],
          ['Last backup', backup === null ? 'none' : backupText(backup, status.time)],
        ],
      }),
    ),
    status.feeds.length === 0
      ? null
      : h(Card, { title: 'Feeds', flush: true }, h(Sheet, { label: 'Feeds', rows: status.feeds })),
    h(
      'div',
      { class: 'halves' },
      h(
        Card,
        { title: 'Storage', flush: true },
        h(Table<StorageUse>, { label: 'Storage', rows: status.storage, columns: STORAGE_COLUMNS }),
      ),
      h(
        Card,
        { title: 'Schedules', flush: true },
        status.schedules.length === 0
          ? h(Empty, { title: 'No schedules' })
          : h(Table<Schedule>, {
              label: 'Schedules',
              rows: status.schedules,
              columns: SCHEDULE_COLUMNS,
            }),
      ),
    ),
  );
}

const backupText = ({ time: finishedMs }: { readonly time?: number }, now: number): string =>
  finishedMs === undefined ? 'yes' : `${duration(Math.max(0, now - finishedMs))} ago`;

const PROBLEM_COLUMNS = [
  {
    title: 'Level',
    show: ({ level }: StatusProblem) =>
      h(Badge, { text: level, tone: level === 'fault' ? 'bad' : 'warn' }),
  },
  { title: 'Problem', isHead: true, show: ({ what }: StatusProblem) => what },
  { title: 'Solution', show: ({ advice }: StatusProblem) => advice },
];

const STORAGE_COLUMNS = [
  { title: 'Workspace', isHead: true, show: ({ workspace }: StorageUse) => workspace },
  { title: 'Records', isNumber: true, show: ({ live }: StorageUse) => bytes(live) },
  { title: 'Earlier versions', isNumber: true, show: ({ history }: StorageUse) => bytes(history) },
  { title: 'Limit', isNumber: true, show: ({ limit }: StorageUse) => bytes(limit) },
];

const SCHEDULE_COLUMNS = [
  { title: 'Schedule', isHead: true, show: ({ schedule }: Schedule) => schedule },
  { title: 'Into', show: ({ dataset, workspace }: Schedule) => `${workspace}.${dataset}` },
  {
    title: 'Consecutive failures',
    isNumber: true,
    show: ({ failedInARow }: Schedule) =>
      failedInARow === 0 ? '0' : h(Badge, { text: String(failedInARow), tone: 'bad' as const }),
  },
  {
    title: 'Last success',
    class: 'nowrap',
    show: ({ lastSuccess }: Schedule) => (lastSuccess === null ? 'never' : time(lastSuccess)),
  },
];
