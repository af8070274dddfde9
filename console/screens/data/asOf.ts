// Slider that selects the version to show, among those that changed records.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Version } from '../../api/answers.ts';
import { replaceQuery } from '../../routing/place.ts';
import { plural, time } from '../../components/formats.ts';

/** Returns the versions that changed records, oldest first. */
export const listChanges = (versions: readonly Version[]): readonly Version[] =>
  versions.filter(({ deleted, inserted }) => inserted > 0 || deleted > 0).toReversed();

interface AsOfProps {
  readonly changes: readonly Version[];
  readonly query: URLSearchParams;
}

/** Delay after the last slider movement before the request is sent. */
const DRAG_PAUSE_MS = 150;

export function AsOf({ changes, query }: AsOfProps): JSX.Element | null {
  const asOf = query.get('asOf');
  const chosen = changes.findIndex(({ snapshot }) => String(snapshot) === asOf);
  const last = changes.length - 1;
  const [at, setAt] = useState(chosen < 0 ? last : chosen);
  useEffect(() => setAt(chosen < 0 ? last : chosen), [chosen, last]);
  useEffect(() => {
    const now = chosen < 0 ? last : chosen;
    if (at === now) return undefined;
    const timer = setTimeout(() => {
      const version = at === last ? undefined : changes[at];
      replaceQuery({ ...Object.fromEntries(query), page: undefined, asOf: version?.snapshot });
    }, DRAG_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [at]);
  const version = changes[at];
  if (changes.length < 2 || version === undefined) return null;
  const summary = `${time(version.date)}, ${version.message}`;
  return h(
    'section',
    { class: 'card', 'aria-label': 'Version' },
    h(
      'div',
      { class: 'row versions' },
      h('label', { for: 'as-of' }, h('strong', null, 'As of')),
      h('input', {
        id: 'as-of',
        type: 'range',
        min: 0,
        max: last,
        step: 1,
        value: at,
        'aria-valuetext': summary,
        onInput: (event: Event) => setAt(Number((event.target as HTMLInputElement).value)),
      }),
      h(
        'span',
        null,
        at === last ? 'latest of ' : `version ${at + 1} of `,
        plural(last + 1, 'version'),
      ),
      h('span', { class: 'soft small' }, summary),
    ),
  );
}
