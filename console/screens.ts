// Maps addresses to screens.
import { h, type JSX } from 'preact';
import type { Session } from './api/session.ts';
import { screenHref, type Place } from './routing/place.ts';
import { Empty, Head } from './components/parts.ts';
import { Datasets } from './screens/data/datasets.ts';
import { DatasetScreen } from './screens/data/dataset.ts';
import { Sql } from './screens/query/sql.ts';
import { Load } from './screens/loading/load.ts';
import { Jobs } from './screens/loading/jobs.ts';
import { JobScreen } from './screens/loading/job.ts';
import { Account } from './screens/money/account.ts';
import { Tokens } from './screens/money/tokens.ts';
import { Sources } from './screens/sources/sources.ts';
import { Streams } from './screens/live/streams.ts';
import { Rules } from './screens/rules/rules.ts';
import { NewRule } from './screens/rules/newRule.ts';
import { RuleScreen } from './screens/rules/rule.ts';
import { Market } from './screens/market/market.ts';
import { Operations } from './screens/operate/operations.ts';

interface ScreenEntry {
  readonly id: string;
  readonly title: string;
  /** Shortcut key after `g`. */
  readonly letter: string;
  /** Its address contains a workspace. */
  readonly hasWorkspace?: boolean;
  readonly path: (workspace: string) => readonly string[];
}

const workspacePath =
  (id: string) =>
  (workspace: string): readonly string[] =>
    workspace === '' ? [id] : [id, workspace];

export const SCREENS: readonly ScreenEntry[] = [
  {
    id: 'datasets',
    title: 'Datasets',
    letter: 'd',
    hasWorkspace: true,
    path: workspacePath('datasets'),
  },
  { id: 'sql', title: 'SQL', letter: 's', hasWorkspace: true, path: workspacePath('sql') },
  { id: 'load', title: 'Load', letter: 'l', hasWorkspace: true, path: workspacePath('load') },
  {
    id: 'jobs',
    title: 'Jobs and logs',
    letter: 'j',
    hasWorkspace: true,
    path: workspacePath('jobs'),
  },
  {
    id: 'sources',
    title: 'Sources',
    letter: 'o',
    hasWorkspace: true,
    path: workspacePath('sources'),
  },
  { id: 'market', title: 'Market', letter: 'm', path: () => ['market'] },
  { id: 'streams', title: 'Streams', letter: 'e', path: () => ['streams'] },
  { id: 'rules', title: 'Rules', letter: 'r', path: () => ['rules'] },
  { id: 'account', title: 'Account', letter: 'a', path: () => ['account'] },
  { id: 'tokens', title: 'Tokens', letter: 't', path: () => ['tokens'] },
  { id: 'operations', title: 'Operations', letter: 'p', path: () => ['operations'] },
];

/** Returns the workspace in an address. */
export const findWorkspace = ([id, workspace]: readonly string[]): string | undefined =>
  SCREENS.some((one) => one.id === id && one.hasWorkspace === true) ? workspace : undefined;

interface ScreenContext {
  readonly workspace: string;
  readonly session: Session;
}

export function renderScreen(place: Place, context: ScreenContext): JSX.Element {
  const { parts } = place;
  const [id = 'datasets', second] = parts;
  if (id === 'market') return h(Market, { key: second, symbol: second, query: place.query });
  if (id === 'streams') return h(Streams, { workspace: context.workspace });
  if (id === 'rules' && second === 'new') return h(NewRule, {});
  if (id === 'rules' && second !== undefined) return h(RuleScreen, { id: second });
  if (id === 'rules') return h(Rules, {});
  if (id === 'account') return h(Account, {});
  if (id === 'tokens') return h(Tokens, {});
  if (id === 'operations') return h(Operations, {});
  return workspaceScreen(id, place, context) ?? h(NotFound, {});
}

function workspaceScreen(
  id: string,
  { parts, query }: Place,
  { session, workspace }: ScreenContext,
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

const NotFound = (): JSX.Element =>
  h(
    'div',
    null,
    h(Head, { title: 'No such screen' }),
    h(
      Empty,
      { title: 'This address does not belong to a screen.' },
      h(
        'div',
        { class: 'row-of' },
        h('a', { class: 'button', href: screenHref([]) }, 'Go to Datasets'),
      ),
    ),
  );
