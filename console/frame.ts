// Frame around every screen: navigation, workspace selection, messages used, and sign-out.
import { h, type JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Workspace } from './api/answers.ts';
import { messagesSpent, onSpending, apiPath } from './api/client.ts';
import { type Session, signOut } from './api/session.ts';
import { useApi } from './api/useApi.ts';
import { Help } from './help.ts';
import { listenToKeys } from './routing/keys.ts';
import { go, screenHref, type Place, usePlace } from './routing/place.ts';
import { SCREENS, renderScreen, findWorkspace } from './screens.ts';
import { Curl } from './components/curl.ts';
import { plural } from './components/formats.ts';
import { isDark, onTheme, toggleTheme } from './components/theme.ts';

/** Lists workspaces; for a token without that right, the workspaces of the datasets it may read. */
function useWorkspaces({ isSecret }: Session): readonly string[] {
  const workspaceList = useApi<readonly Workspace[]>(
    isSecret ? apiPath(['workspaces']) : undefined,
    UNLISTED,
  );
  const datasetList = useApi<readonly { readonly workspace: string }[]>(
    isSecret && workspaceList.problem === undefined ? undefined : apiPath(['data']),
    UNLISTED,
  );
  return useMemo(() => {
    const all = workspaceList.answer?.value ?? datasetList.answer?.value ?? [];
    return [...new Set(all.map(({ workspace }) => workspace))];
  }, [workspaceList.answer, datasetList.answer]);
}

const UNLISTED = { unlisted: true } as const;

export function Frame({ session }: { readonly session: Session }): JSX.Element {
  const place = usePlace();
  const workspaces = useWorkspaces(session);
  const [isOpen, setOpen] = useState(false);
  const [isHelping, setHelping] = useState(false);
  const workspace = findWorkspace(place.parts) ?? workspaces[0] ?? '';
  useEffect(
    () =>
      listenToKeys({
        shortcuts: () =>
          SCREENS.map(({ letter, path, title }) => ({
            letter,
            title,
            href: () => screenHref(path(workspace)),
          })),
        go,
        help: () => setHelping(true),
      }),
    [workspace],
  );
  useEffect(() => setOpen(false), [place.moves]);
  return h(
    'div',
    { class: 'frame' },
    h('a', { class: 'skip', href: '#main', onClick: skip }, 'Skip to the content'),
    h(Side, { place, workspace, isOpen }),
    h(
      'div',
      null,
      h(Bar, {
        place,
        workspace,
        workspaces,
        isOpen,
        onMenu: () => setOpen(!isOpen),
        onHelp: () => setHelping(true),
      }),
      h(
        'main',
        { id: 'main', tabIndex: -1 },
        h(
          'div',
          { key: `${place.moves}` },
          renderScreen(place, { workspace, session }),
          h(Curl, {}),
        ),
      ),
    ),
    isHelping ? h(Help, { onClose: () => setHelping(false) }) : null,
  );
}

/** Moves the focus without changing the address, which names the screen. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

const Logo = (): JSX.Element =>
  h(
    'svg',
    { viewBox: '0 0 32 32', 'aria-hidden': true },
    h('rect', { width: 32, height: 32, rx: 7, fill: 'var(--accent)' }),
    h('path', {
      d: 'M7 21l5-7 4 4 4-7 5 6',
      fill: 'none',
      stroke: 'var(--accent-ink)',
      'stroke-width': 2.6,
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
    }),
  );

interface SideProps {
  readonly place: Place;
  readonly workspace: string;
  readonly isOpen: boolean;
}

const Side = ({ isOpen, place, workspace }: SideProps): JSX.Element =>
  h(
    'nav',
    { class: `side ${isOpen ? 'open' : ''}`, 'aria-label': 'Screens', id: 'screens' },
    h('a', { class: 'brand', href: screenHref([]) }, h(Logo, {}), 'Tapedeck'),
    SCREENS.map(({ id, path, title }) =>
      h(
        'a',
        {
          key: id,
          class: 'place',
          href: screenHref(path(workspace)),
          'aria-current': (place.parts[0] ?? 'datasets') === id ? 'page' : undefined,
        },
        title,
      ),
    ),
    h('p', { class: 'group' }, 'Times are UTC.'),
  );

interface BarProps extends SideProps {
  readonly workspaces: readonly string[];
  readonly onMenu: () => void;
  readonly onHelp: () => void;
}

function Bar({ isOpen, onHelp, onMenu, place, workspace, workspaces }: BarProps): JSX.Element {
  const [dark, setDark] = useState(isDark);
  useEffect(() => onTheme(() => setDark(isDark())), []);
  const screen = SCREENS.find(({ id }) => id === (place.parts[0] ?? 'datasets'));
  const pick = (event: Event): void =>
    go(screenHref((screen ?? SCREENS[0])?.path((event.target as HTMLSelectElement).value) ?? []));
  return h(
    'header',
    { class: 'bar' },
    h(
      'button',
      { class: 'menu', 'aria-expanded': isOpen, 'aria-controls': 'screens', onClick: onMenu },
      'Menu',
    ),
    screen?.hasWorkspace === true && workspaces.length > 0
      ? h(
          'label',
          null,
          h('span', { class: 'wide' }, 'Workspace'),
          h(
            'select',
            { value: workspace, onChange: pick, 'aria-label': 'Workspace' },
            [...new Set([...workspaces, workspace])].map((name) =>
              h('option', { key: name, value: name, selected: name === workspace }, name),
            ),
          ),
        )
      : null,
    h('span', { class: 'grow' }),
    h(Spent, {}),
    h('button', { class: 'plain', onClick: toggleTheme }, dark ? 'Light' : 'Dark'),
    h('button', { class: 'plain wide', onClick: onHelp, 'aria-keyshortcuts': '?' }, 'Keys'),
    h('button', { onClick: signOut }, 'Sign out'),
  );
}

function Spent(): JSX.Element {
  const [spent, setSpent] = useState(messagesSpent);
  useEffect(() => onSpending(() => setSpent(messagesSpent())), []);
  return h(
    'a',
    {
      class: 'meter wide',
      href: screenHref(['account']),
      title: 'Messages used since this page was opened',
    },
    `${plural(spent, 'message')} used`,
  );
}
