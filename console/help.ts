// Everything that keys do.
import { h, type JSX } from 'preact';
import { Dialog } from './showing/dialog.ts';
import { PLACES } from './screens.ts';

export const Help = ({ onClose }: { readonly onClose: () => void }): JSX.Element =>
  h(
    Dialog,
    { title: 'Keys', onClose },
    h(
      'table',
      null,
      h('caption', { class: 'hidden' }, 'Keys and what they do'),
      h(
        'tbody',
        null,
        [
          ...PLACES.map(({ letter, title }) => [`g ${letter}`, `Go to ${title}`] as const),
          ['/', 'Search this screen'] as const,
          ['Ctrl Enter', 'Run the query'] as const,
          ['?', 'These keys'] as const,
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
