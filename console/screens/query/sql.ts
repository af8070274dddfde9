// SQL screen: a query with its price, its result as a sheet or a chart, and saved queries.
import { h, type JSX } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Dataset, Price } from '../../api/answers.ts';
import { type Answer, callApi, apiPath, type Problem, toProblem } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { replaceQuery } from '../../routing/place.ts';
import { plural } from '../../components/formats.ts';
import { Card, Choice, Failed, Head } from '../../components/parts.ts';
import type { Row } from '../../components/sheet.ts';
import { Editor } from './editor.ts';
import { Result } from './result.ts';
import { SaveQuery } from './saveQuery.ts';
import { Saved } from './saved.ts';

interface SqlProps {
  readonly workspace: string;
  readonly query: URLSearchParams;
  readonly isSecret: boolean;
}

/** Delay after the last keystroke before the price and the errors are requested. */
const TYPING_PAUSE_MS = 400;
/** Default cost limit of a query: as many messages as the sheet shows rows. */
const COST_LIMIT = 100_000;

const START = 'SELECT *\nFROM \nLIMIT 100';

interface Estimate {
  readonly price?: Price;
  readonly problem?: Problem;
}

export function Sql({ isSecret, query, workspace }: SqlProps): JSX.Element {
  const initialQuery = query.get('q');
  const [text, setText] = useState(initialQuery ?? START);
  const [limit, setLimit] = useState(String(COST_LIMIT));
  const [isSaving, setSaving] = useState(false);
  const [version, setVersion] = useState(0);
  const tables = useApi<readonly Dataset[]>(
    workspace === '' ? undefined : apiPath([isSecret ? 'datasets' : 'data', workspace]),
    UNLISTED,
  );
  const estimated = usePrice(workspace, text);
  const { answer, isBusy, problem, run } = useRun(workspace, text, limit);
  const currentProblem = problem ?? estimated.problem;
  return h(
    'div',
    null,
    h(Head, { title: 'SQL' }),
    h(
      Card,
      {
        title: 'Query',
        actions: h(RunButton, { estimated, text, isBusy, run }),
      },
      h(
        'div',
        { class: 'stack' },
        h(Editor, {
          text,
          onText: setText,
          onRun: run,
          tables: tables.answer?.value ?? NO_TABLES,
          problem: currentProblem,
        }),
        h(QueryControls, {
          limit,
          onLimit: setLimit,
          onSave: isSecret && !isBlank(text) ? () => setSaving(true) : undefined,
        }),
        currentProblem === undefined ? null : h(Failed, { problem: currentProblem }),
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

interface RunProps extends Pick<QueryRun, 'isBusy' | 'run'> {
  readonly estimated: Estimate;
  readonly text: string;
}

const RunButton = ({ isBusy, run, text, estimated }: RunProps): JSX.Element =>
  h(
    'div',
    { class: 'row-of' },
    h('span', { class: 'soft small', role: 'status' }, priceText(estimated, text)),
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

interface QueryControlsProps {
  readonly limit: string;
  readonly onLimit: (limit: string) => void;
  /** Undefined if there is nothing to save or the token may not save. */
  readonly onSave: (() => void) | undefined;
}

const QueryControls = ({ limit, onLimit, onSave }: QueryControlsProps): JSX.Element =>
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
const NO_TABLES: readonly Dataset[] = [];
const LIMITS = [1_000, 10_000, COST_LIMIT, 1_000_000].map(
  (count) => [String(count), plural(count, 'message')] as const,
);

const isBlank = (text: string): boolean => text.trim() === '' || text === START;

function priceText({ price }: Estimate, text: string): string {
  if (price === undefined || isBlank(text)) return '';
  return price.messages === 0
    ? 'Costs nothing'
    : `Costs at most ${plural(price.messages, 'message')}`;
}

/** Requests the price of a query or its error. The request is free and reads no data. */
function usePrice(workspace: string, text: string): Estimate {
  const [estimated, setEstimated] = useState<Estimate>({});
  useEffect(() => {
    if (isBlank(text) || workspace === '') {
      setEstimated({});
      return undefined;
    }
    const controller = new AbortController();
    const json = { sqlQuery: text, estimate: true };
    const timer = setTimeout(() => {
      callApi<Price>(apiPath(['sql-query', workspace]), {
        json,
        unlisted: true,
        signal: controller.signal,
      }).then(
        ({ value }) => setEstimated({ price: value }),
        (reason: unknown) =>
          controller.signal.aborted || setEstimated({ problem: toProblem(reason) }),
      );
    }, TYPING_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [workspace, text]);
  return estimated;
}

interface QueryRun {
  readonly answer: (Answer<readonly Row[]> & { readonly text: string }) | undefined;
  readonly problem: Problem | undefined;
  readonly isBusy: boolean;
  readonly run: () => void;
}

function useRun(workspace: string, text: string, limit: string): QueryRun {
  const [state, setState] = useState<Omit<QueryRun, 'run'>>({
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
    replaceQuery({ q: sqlQuery.length < ADDRESS_MAX ? sqlQuery : undefined });
    const json = { sqlQuery, maxMessages: Number(maxMessages) };
    callApi<readonly Row[]>(apiPath(['sql-query', workspace]), { json }).then(
      (answer) =>
        setState({ answer: { ...answer, text: sqlQuery }, problem: undefined, isBusy: false }),
      (reason: unknown) =>
        setState({ answer: undefined, problem: toProblem(reason), isBusy: false }),
    );
  }, [workspace]);
  useEffect(() => setState((before) => ({ ...before, problem: undefined })), [text]);
  return useMemo(() => ({ ...state, run }), [state, run]);
}

/** Longer queries are left out of the address. */
const ADDRESS_MAX = 4_000;
