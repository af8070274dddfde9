// Renders log lines.
import { h, type JSX } from 'preact';
import type { LogLine } from '../../api/answers.ts';
import { screenHref } from '../../routing/place.ts';
import { time } from '../../components/formats.ts';
import { Badge, Empty } from '../../components/parts.ts';

interface LogProps {
  readonly lines: readonly LogLine[];
  readonly workspace?: string;
}

const severityTone = (severity: string): 'bad' | 'warn' | '' =>
  severity === 'error' ? 'bad' : severity === 'warn' ? 'warn' : '';

export const Log = ({ lines, workspace }: LogProps): JSX.Element =>
  lines.length === 0
    ? h(Empty, { title: 'Nothing was logged' })
    : h(
        'ol',
        { class: 'log', tabIndex: 0, 'aria-label': 'Log' },
        lines.map(({ jobId, message, severity, timestamp }, index) =>
          h(
            'li',
            { key: index },
            h('span', { class: 'soft nowrap' }, time(timestamp)),
            h(Badge, { text: severity, tone: severityTone(severity) }),
            h(
              'span',
              null,
              message,
              workspace === undefined || jobId === null
                ? null
                : [
                    ' ',
                    h('a', { href: screenHref(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
                  ],
            ),
          ),
        ),
      );
