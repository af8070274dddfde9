// How the server does: what is wrong first, then what there is. The token of the operator opens it.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { pathOf } from '../../asking/ask.ts';
import { onSession, operatorToken, setOperatorToken } from '../../asking/session.ts';
import { useAsk } from '../../asking/useAsk.ts';
import { bytes, duration, number, plural, time } from '../../showing/formats.ts';
import { Badge, Card, Empty, Facts, Failed, Field, Head, shown } from '../../showing/parts.ts';
import { type Row, Sheet } from '../../showing/sheet.ts';
import { Table } from '../../showing/table.ts';
import { Accounts, Ledger } from './evidence.ts';

interface Status {
  readonly version: string;
  readonly time: number;
  readonly schedules: readonly Schedule[];
  readonly feeds: readonly Row[];
  readonly jobs: { readonly running: number; readonly waiting: number };
  readonly ledger: { readonly waiting: number };
  readonly storage: readonly Stored[];
  readonly disk: { readonly free: number; readonly size: number };
  readonly backup: { readonly time?: number } | null;
  readonly problems: readonly Trouble[];
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

interface Stored {
  readonly workspace: string;
  readonly live: number;
  readonly history: number;
  readonly limit: number;
}

interface Trouble {
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
    token === '' ? h(Door, {}) : h(Inside, { key: token }),
  );
}

function Door(): JSX.Element {
  const [text, setText] = useState('');
  const open = (event: Event): void => {
    event.preventDefault();
    setOperatorToken(text.trim());
  };
  return h(
    Card,
    { title: 'For the operator' },
    h(
      'form',
      { class: 'stack', onSubmit: open, style: { maxWidth: '460px' } },
      h(
        'p',
        { class: 'soft' },
        'This concerns the whole server: it needs the operator’s token, from the file ',
        h('code', null, 'admin-token'),
        ' of the data folder. It is kept in memory alone.',
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

function Inside(): JSX.Element {
  const asked = useAsk<Status>(pathOf(['admin', 'status']), AS_OPERATOR);
  if (asked.problem?.status === 401 || asked.problem?.status === 403) {
    return h('div', { class: 'stack' }, h(Failed, { problem: asked.problem }), h(Door, {}));
  }
  return h(
    'div',
    null,
    shown(asked, 'how the server does', (status) => h(Told, { status, again: asked.again })),
    h(Ledger, {}),
    h(Accounts, {}),
  );
}

interface ToldProps {
  readonly status: Status;
  readonly again: () => void;
}

function Told({ again, status }: ToldProps): JSX.Element {
  const { backup, disk, jobs, ledger, problems, version } = status;
  return h(
    'div',
    null,
    h(
      Card,
      {
        title:
          problems.length === 0
            ? 'Nothing is wrong'
            : `${plural(problems.length, 'thing')} to see to`,
        flush: true,
        actions: h('button', { class: 'small', onClick: again }, 'Refresh'),
      },
      problems.length === 0
        ? h(Empty, { title: 'All is well' }, `As of ${time(status.time)}.`)
        : h(Table<Trouble>, { label: 'What is wrong', rows: problems, columns: TROUBLES }),
    ),
    h(
      Card,
      { title: 'Server' },
      h(Facts, {
        of: [
          ['Version', version],
          ['Its clock', time(status.time)],
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
        h(Table<Stored>, { label: 'Storage', rows: status.storage, columns: STORED }),
      ),
      h(
        Card,
        { title: 'Schedules', flush: true },
        status.schedules.length === 0
          ? h(Empty, { title: 'No schedules' })
          : h(Table<Schedule>, { label: 'Schedules', rows: status.schedules, columns: SCHEDULES }),
      ),
    ),
  );
}

const backupText = ({ time: made }: { readonly time?: number }, now: number): string =>
  made === undefined ? 'made' : `${duration(Math.max(0, now - made))} ago`;

const TROUBLES = [
  {
    title: 'Level',
    show: ({ level }: Trouble) =>
      h(Badge, { text: level, tone: level === 'fault' ? 'bad' : 'warn' }),
  },
  { title: 'What', isHead: true, show: ({ what }: Trouble) => what },
  { title: 'What to do', show: ({ advice }: Trouble) => advice },
];

const STORED = [
  { title: 'Workspace', isHead: true, show: ({ workspace }: Stored) => workspace },
  { title: 'Records', isNumber: true, show: ({ live }: Stored) => bytes(live) },
  { title: 'Earlier versions', isNumber: true, show: ({ history }: Stored) => bytes(history) },
  { title: 'Limit', isNumber: true, show: ({ limit }: Stored) => bytes(limit) },
];

const SCHEDULES = [
  { title: 'Schedule', isHead: true, show: ({ schedule }: Schedule) => schedule },
  { title: 'Into', show: ({ dataset, workspace }: Schedule) => `${workspace}.${dataset}` },
  {
    title: 'Failed in a row',
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
