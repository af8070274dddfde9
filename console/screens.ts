// Which address is which screen.
import { h, type JSX } from 'preact';
import type { Session } from './asking/session.ts';
import { hrefOf, type Place } from './routing/place.ts';
import { Empty, Head } from './showing/parts.ts';
import { Datasets } from './screens/data/datasets.ts';
import { DatasetScreen } from './screens/data/dataset.ts';
import { Sql } from './screens/query/sql.ts';
import { Load } from './screens/loading/load.ts';
import { Jobs } from './screens/loading/jobs.ts';
import { JobScreen } from './screens/loading/job.ts';
import { Account } from './screens/money/account.ts';
import { Tokens } from './screens/money/tokens.ts';
import { Sources } from './screens/feeding/sources.ts';
import { Streams } from './screens/live/streams.ts';
import { Rules } from './screens/rules/rules.ts';
import { NewRule } from './screens/rules/newRule.ts';
import { RuleScreen } from './screens/rules/rule.ts';
import { Market } from './screens/market/market.ts';
import { Operations } from './screens/operate/operations.ts';

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
  { id: 'sources', title: 'Sources', letter: 'o', ofWorkspace: true, path: within('sources') },
  { id: 'market', title: 'Market', letter: 'm', path: () => ['market'] },
  { id: 'streams', title: 'Streams', letter: 'e', path: () => ['streams'] },
  { id: 'rules', title: 'Rules', letter: 'r', path: () => ['rules'] },
  { id: 'account', title: 'Account', letter: 'a', path: () => ['account'] },
  { id: 'tokens', title: 'Tokens', letter: 't', path: () => ['tokens'] },
  { id: 'operations', title: 'Operations', letter: 'p', path: () => ['operations'] },
];

/** The workspace that an address names. */
export const workspaceOf = ([id, workspace]: readonly string[]): string | undefined =>
  PLACES.some((one) => one.id === id && one.ofWorkspace === true) ? workspace : undefined;

interface Where {
  readonly workspace: string;
  readonly session: Session;
}

export function screenOf(place: Place, where: Where): JSX.Element {
  const { parts } = place;
  const [id = 'datasets', second] = parts;
  if (id === 'market') return h(Market, { key: second, symbol: second, query: place.query });
  if (id === 'streams') return h(Streams, { workspace: where.workspace });
  if (id === 'rules' && second === 'new') return h(NewRule, {});
  if (id === 'rules' && second !== undefined) return h(RuleScreen, { id: second });
  if (id === 'rules') return h(Rules, {});
  if (id === 'account') return h(Account, {});
  if (id === 'tokens') return h(Tokens, {});
  if (id === 'operations') return h(Operations, {});
  return ofWorkspace(id, place, where) ?? h(Nowhere, {});
}

function ofWorkspace(
  id: string,
  { parts, query }: Place,
  { session, workspace }: Where,
): JSX.Element | undefined {
  const { isSecret } = session;
  const [, , third] = parts;
  if (id === 'datasets' && third !== undefined)
    return h(DatasetScreen, { workspace, id: third, query, isSecret });
  if (id === 'datasets') return h(Datasets, { key: workspace, workspace, query, session });
  if (id === 'sql') return h(Sql, { key: workspace, workspace, query, isSecret });
  if (id === 'load') return h(Load, { key: workspace, workspace });
  if (id === 'jobs' && third !== undefined) return h(JobScreen, { workspace, jobId: third });
  if (id === 'jobs') return h(Jobs, { key: workspace, workspace });
  if (id === 'sources') return h(Sources, { key: workspace, workspace });
  return undefined;
}

const Nowhere = (): JSX.Element =>
  h(
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
