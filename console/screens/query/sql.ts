// The SQL screen: a query with its price beside it, its answer as a sheet and a chart, and a name for it.
import { h, type JSX } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Dataset, Price } from '../../asking/answers.ts';
import { type Answer, ask, pathOf, type Problem, problemOf } from '../../asking/ask.ts';
import { useAsk } from '../../asking/useAsk.ts';
import { restate } from '../../routing/place.ts';
import { plural } from '../../showing/formats.ts';
import { Card, Choice, Failed, Head } from '../../showing/parts.ts';
import type { Row } from '../../showing/sheet.ts';
import { Editor } from './editor.ts';
import { Result } from './result.ts';
import { SaveQuery } from './saveQuery.ts';
import { Saved } from './saved.ts';

interface SqlProps {
  readonly workspace: string;
  readonly query: URLSearchParams;
  readonly isSecret: boolean;
}

/** The price and the errors of a text are asked for when typing rests. */
const RESTS_MS = 400;
/** The dearest call that runs without being asked for: as many rows as the sheet shows. */
const DEAREST = 100_000;

const START = 'SELECT *\nFROM \nLIMIT 100';

interface Told {
  readonly price?: Price;
  readonly problem?: Problem;
}

export function Sql({ isSecret, query, workspace }: SqlProps): JSX.Element {
  const asked = query.get('q');
  const [text, setText] = useState(asked ?? START);
  const [limit, setLimit] = useState(String(DEAREST));
  const [isSaving, setSaving] = useState(false);
  const [version, setVersion] = useState(0);
  const tables = useAsk<readonly Dataset[]>(
    workspace === '' ? undefined : pathOf([isSecret ? 'datasets' : 'data', workspace]),
    UNLISTED,
  );
  const told = usePrice(workspace, text);
  const { answer, isBusy, problem, run } = useRun(workspace, text, limit);
  const shown = problem ?? told.problem;
  return h(
    'div',
    null,
    h(Head, { title: 'SQL' }),
    h(
      Card,
      {
        title: 'Query',
        actions: h(RunIt, { told, text, isBusy, run }),
      },
      h(
        'div',
        { class: 'stack' },
        h(Editor, {
          text,
          onText: setText,
          onRun: run,
          tables: tables.answer?.value ?? NONE,
          problem: shown,
        }),
        h(Below, {
          limit,
          onLimit: setLimit,
          onSave: isSecret && !isBlank(text) ? () => setSaving(true) : undefined,
        }),
        shown === undefined ? null : h(Failed, { problem: shown }),
      ),
    ),
    answer === undefined ? null : h(Result, { answer }),
    isSecret ? h(Saved, { workspace, version, onOpen: setText }) : null,
    isSaving
      ? h(SaveQuery, {
          workspace,
          text,
          onClose: () => setSaving(false),
          onSaved: () => setVersion(version + 1),
        })
      : null,
  );
}

interface RunProps extends Pick<Ran, 'isBusy' | 'run'> {
  readonly told: Told;
  readonly text: string;
}

const RunIt = ({ isBusy, run, text, told }: RunProps): JSX.Element =>
  h(
    'div',
    { class: 'row-of' },
    h('span', { class: 'soft small', role: 'status' }, priceText(told, text)),
    h(
      'button',
      {
        class: 'primary',
        disabled: isBusy || isBlank(text),
        onClick: run,
        'aria-keyshortcuts': 'Control+Enter',
      },
      isBusy ? 'Running …' : 'Run',
    ),
  );

interface BelowProps {
  readonly limit: string;
  readonly onLimit: (limit: string) => void;
  /** Undefined: there is nothing to save, or no right to. */
  readonly onSave: (() => void) | undefined;
}

const Below = ({ limit, onLimit, onSave }: BelowProps): JSX.Element =>
  h(
    'div',
    { class: 'row-of' },
    h(Choice, {
      label: 'Refuse to run if it costs more than',
      value: limit,
      options: LIMITS,
      onPick: onLimit,
    }),
    h('span', { style: { flex: 1 } }),
    h('button', { onClick: onSave, disabled: onSave === undefined }, 'Save …'),
  );

const UNLISTED = { unlisted: true } as const;
const NONE: readonly Dataset[] = [];
const LIMITS = [1_000, 10_000, DEAREST, 1_000_000].map(
  (count) => [String(count), plural(count, 'message')] as const,
);

const isBlank = (text: string): boolean => text.trim() === '' || text === START;

function priceText({ price }: Told, text: string): string {
  if (price === undefined || isBlank(text)) return '';
  return price.messages === 0
    ? 'Costs nothing'
    : `Costs at most ${plural(price.messages, 'message')}`;
}

/** The price of a text, or why it is no query: free, and nothing is read. */
function usePrice(workspace: string, text: string): Told {
  const [told, setTold] = useState<Told>({});
  useEffect(() => {
    if (isBlank(text) || workspace === '') {
      setTold({});
      return undefined;
    }
    const gone = new AbortController();
    const json = { sqlQuery: text, estimate: true };
    const timer = setTimeout(() => {
      ask<Price>(pathOf(['sql-query', workspace]), {
        json,
        unlisted: true,
        signal: gone.signal,
      }).then(
        ({ value }) => setTold({ price: value }),
        (reason: unknown) => gone.signal.aborted || setTold({ problem: problemOf(reason) }),
      );
    }, RESTS_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [workspace, text]);
  return told;
}

interface Ran {
  readonly answer: (Answer<readonly Row[]> & { readonly text: string }) | undefined;
  readonly problem: Problem | undefined;
  readonly isBusy: boolean;
  readonly run: () => void;
}

function useRun(workspace: string, text: string, limit: string): Ran {
  const [state, setState] = useState<Omit<Ran, 'run'>>({
    answer: undefined,
    problem: undefined,
    isBusy: false,
  });
  const latest = useRef({ text, limit });
  latest.current = { text, limit };
  const run = useCallback(() => {
    const { limit: maxMessages, text: sqlQuery } = latest.current;
    if (isBlank(sqlQuery)) return;
    setState((before) => ({ ...before, problem: undefined, isBusy: true }));
    restate({ q: sqlQuery.length < ADDRESS_MAX ? sqlQuery : undefined });
    const json = { sqlQuery, maxMessages: Number(maxMessages) };
    ask<readonly Row[]>(pathOf(['sql-query', workspace]), { json }).then(
      (answer) =>
        setState({ answer: { ...answer, text: sqlQuery }, problem: undefined, isBusy: false }),
      (reason: unknown) =>
        setState({ answer: undefined, problem: problemOf(reason), isBusy: false }),
    );
  }, [workspace]);
  useEffect(() => setState((before) => ({ ...before, problem: undefined })), [text]);
  return useMemo(() => ({ ...state, run }), [state, run]);
}

/** Longer queries are not part of the address. */
const ADDRESS_MAX = 4_000;
