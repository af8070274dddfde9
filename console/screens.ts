// Which address is which screen.
import { h, type JSX } from 'preact';
import type { Session } from './asking/session.ts';
import { hrefOf, type Place } from './routing/place.ts';
import { Empty, Head } from './showing/parts.ts';
import { Datasets } from './data/datasets.ts';
import { DatasetScreen } from './data/dataset.ts';
import { Sql } from './query/sql.ts';
import { Load } from './loading/load.ts';
import { Jobs } from './loading/jobs.ts';
import { JobScreen } from './loading/job.ts';
import { Account } from './money/account.ts';
import { Tokens } from './money/tokens.ts';

interface ScreenPlace {
  readonly id: string;
  readonly title: string;
  /** After `g`. */
  readonly letter: string;
  /** Its address names a workspace. */
  readonly ofWorkspace?: boolean;
  readonly path: (workspace: string) => readonly string[];
}

const within =
  (id: string) =>
  (workspace: string): readonly string[] =>
    workspace === '' ? [id] : [id, workspace];

export const PLACES: readonly ScreenPlace[] = [
  { id: 'datasets', title: 'Datasets', letter: 'd', ofWorkspace: true, path: within('datasets') },
  { id: 'sql', title: 'SQL', letter: 's', ofWorkspace: true, path: within('sql') },
  { id: 'load', title: 'Load', letter: 'l', ofWorkspace: true, path: within('load') },
  { id: 'jobs', title: 'Jobs and logs', letter: 'j', ofWorkspace: true, path: within('jobs') },
  { id: 'account', title: 'Account', letter: 'a', path: () => ['account'] },
  { id: 'tokens', title: 'Tokens', letter: 't', path: () => ['tokens'] },
];

/** The workspace that an address names. */
export const workspaceOf = ([id, workspace]: readonly string[]): string | undefined =>
  PLACES.some((one) => one.id === id && one.ofWorkspace === true) ? workspace : undefined;

interface Where {
  readonly workspace: string;
  readonly session: Session;
}

export function screenOf({ parts, query }: Place, { session, workspace }: Where): JSX.Element {
  const [id = 'datasets', , third] = parts;
  if (id === 'datasets' && third !== undefined) {
    return h(DatasetScreen, { workspace, id: third, query, isSecret: session.isSecret });
  }
  if (id === 'datasets') return h(Datasets, { key: workspace, workspace, query, session });
  if (id === 'sql') return h(Sql, { key: workspace, workspace, query, isSecret: session.isSecret });
  if (id === 'load') return h(Load, { key: workspace, workspace });
  if (id === 'jobs' && third !== undefined) return h(JobScreen, { workspace, jobId: third });
  if (id === 'jobs') return h(Jobs, { key: workspace, workspace });
  if (id === 'account') return h(Account, {});
  if (id === 'tokens') return h(Tokens, {});
  return h(
    'div',
    null,
    h(Head, { title: 'There is no such screen' }),
    h(
      Empty,
      { title: 'The address names none of the screens.' },
      h(
        'div',
        { class: 'row-of' },
        h('a', { class: 'button', href: hrefOf([]) }, 'Go to Datasets'),
      ),
    ),
  );
}
