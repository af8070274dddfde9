// Basic components of screens: headings, cards, fields, tabs and request states.
import { type ComponentChildren, h, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem } from '../api/client.ts';
import { type ApiRequest, useInterval } from '../api/useApi.ts';

type Children = ComponentChildren;

interface HeadProps {
  readonly title: string;
  readonly crumb?: Children;
  readonly about?: Children;
  readonly children?: Children;
}

/** Heading of a screen. It takes the focus when the screen opens. */
export function Head({ about, children, crumb, title }: HeadProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Tapedeck`;
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title]);
  return h(
    'div',
    { class: 'head' },
    crumb === undefined ? null : h('div', { class: 'crumb' }, crumb),
    h('h1', { ref: heading, tabIndex: -1 }, title),
    h('span', { class: 'grow' }),
    children,
    about === undefined ? null : h('p', null, about),
  );
}

interface CardProps {
  readonly title: string;
  readonly actions?: Children;
  readonly children?: Children;
  /** Renders the content without padding. */
  readonly flush?: boolean;
}

export const Card = ({ actions, children, flush = false, title }: CardProps): JSX.Element =>
  h(
    'section',
    { class: 'card', 'aria-label': title },
    h('header', null, h('h2', null, title), h('span', { class: 'grow' }), actions),
    flush ? children : h('div', { class: 'body' }, children),
  );

const Waiting = ({ what }: { readonly what: string }): JSX.Element =>
  h('p', { class: 'waiting', role: 'status' }, `Loading ${what} …`);

interface EmptyProps {
  readonly title: string;
  readonly children?: Children;
}

export const Empty = ({ children, title }: EmptyProps): JSX.Element =>
  h('div', { class: 'empty' }, h('strong', null, title), children);

interface FailedProps {
  readonly problem: Problem;
  readonly reload?: () => void;
}

/** Returns what the user can do about a problem, or ''. */
function findAdvice({ status, message }: Problem): string {
  if (status === 402) return 'See Account for the remaining quota and the budget.';
  if (/secret key/i.test(message)) return 'Sign in with a secret token (sk_…) to see it.';
  if (status === 401) return 'Sign out and sign in with a token that may do this.';
  if (status === 404) return 'Nothing has this name, or this token may not read it.';
  if (status === 429) return 'Wait a moment: the rate of this token is limited.';
  if (status >= 500) return 'Search the server’s log for the id in the header x-request-id.';
  return '';
}

export const Failed = ({ reload, problem }: FailedProps): JSX.Element =>
  h(
    'div',
    { class: 'notice bad', role: 'alert' },
    h('strong', null, problem.message),
    findAdvice(problem),
    reload === undefined
      ? null
      : h(
          'div',
          { class: 'row-of' },
          h('button', { class: 'small', onClick: reload }, 'Try again'),
        ),
  );

/** Retry interval while the demo data is loading. */
const FILLING_RETRY_MS = 2_000;

/** Returns whether the refusal means that demo data is still loading, which is not an error. */
const isFilling = ({ message, status }: Problem): boolean =>
  status === 503 && message.startsWith('the demo is filling');

function Filling({ reload, problem }: Required<FailedProps>): JSX.Element {
  useInterval(FILLING_RETRY_MS, true, reload);
  return h(
    'div',
    { role: 'status' },
    h(Empty, { title: problem.message }, 'Retrying every two seconds.'),
  );
}

/** Renders the states of a request: loading, failed, or its value, which stays visible during a reload. */
export function renderRequest<T>(
  request: ApiRequest<T>,
  what: string,
  show: (value: T, messages: number) => Children,
): Children {
  const { reload, answer, isWaiting, problem } = request;
  if (answer !== undefined) {
    return h('div', { class: isWaiting ? 'stale' : '', 'aria-busy': isWaiting }, [
      show(answer.value, answer.messages),
    ]);
  }
  if (problem !== undefined) return h(isFilling(problem) ? Filling : Failed, { problem, reload });
  return h(Waiting, { what });
}

type Tone = 'good' | 'warn' | 'bad' | 'accent' | '';

export const Badge = ({
  text,
  tone = '',
}: {
  readonly text: string;
  readonly tone?: Tone;
}): JSX.Element => h('span', { class: `badge ${tone}` }, text);

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children?: Children;
  readonly class?: string;
}

export const Field = ({ children, class: name = '', hint, label }: FieldProps): JSX.Element =>
  h(
    'label',
    { class: `field ${name}` },
    h('span', null, label),
    children,
    hint === undefined ? null : h('small', null, hint),
  );

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onPick: (value: string) => void;
  readonly hint?: string;
}

export const Choice = ({ hint, label, onPick, options, value }: ChoiceProps): JSX.Element =>
  h(
    Field,
    hint === undefined ? { label } : { label, hint },
    h(
      'select',
      { value, onChange: (event: Event) => onPick((event.target as HTMLSelectElement).value) },
      options.map(([key, title]) =>
        h('option', { key, value: key, selected: key === value }, title),
      ),
    ),
  );

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly onText: (value: string) => void;
  readonly hint?: string;
  readonly type?: string;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly class?: string;
}

export const Text = ({ hint, label, onText, class: name = '', ...input }: TextProps): JSX.Element =>
  h(
    Field,
    hint === undefined ? { label, class: name } : { label, hint, class: name },
    h('input', {
      type: 'text',
      autoComplete: 'off',
      spellcheck: false,
      ...input,
      onInput: (event: Event) => onText((event.target as HTMLInputElement).value),
    }),
  );

export const Facts = ({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: Children])[];
}): JSX.Element =>
  h(
    'dl',
    { class: 'facts' },
    of.map(([name, value]) => h('div', { key: name }, h('dt', null, name), h('dd', null, value))),
  );

interface Tab {
  readonly id: string;
  readonly title: string;
  readonly href: string;
}

export const Tabs = (props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
}): JSX.Element =>
  h(
    'nav',
    { class: 'tabs', 'aria-label': props.label },
    props.tabs.map(({ href, id, title }) =>
      h('a', { key: id, href, 'aria-current': id === props.chosen ? 'page' : undefined }, title),
    ),
  );
