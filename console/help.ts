// Help dialog with the keyboard shortcuts.
import { h, type JSX } from 'preact';
import { Dialog } from './components/dialog.ts';
import { SCREENS } from './screens.ts';

export const Help = ({ onClose }: { readonly onClose: () => void }): JSX.Element =>
  h(
    Dialog,
    { title: 'Keys', onClose },
    h(
      'table',
      null,
      h('caption', { class: 'hidden' }, 'Keyboard shortcuts'),
      h(
        'tbody',
        null,
        [
          ...SCREENS.map(({ letter, title }) => [`g ${letter}`, `Go to ${title}`] as const),
          ['/', 'Search this screen'] as const,
          ['Ctrl Enter', 'Run the query'] as const,
          ['?', 'Show this help'] as const,
          ['Esc', 'Close'] as const,
        ].map(([keys, does]) =>
          h(
            'tr',
            { key: keys },
            h(
              'th',
              { scope: 'row' },
              keys.split(' ').map((key) => [h('kbd', null, key), ' ']),
            ),
            h('td', null, does),
          ),
        ),
      ),
    ),
    h('div', { class: 'actions' }, h('button', { onClick: onClose }, 'Close')),
  );
