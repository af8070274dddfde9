// Hooks for the API requests of a screen: sent when it renders, and again when the path changes or on reload.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { type Answer, callApi, type Problem, toProblem, type RequestOptions } from './client.ts';

export interface ApiRequest<T> {
  readonly answer: Answer<T> | undefined;
  readonly problem: Problem | undefined;
  /** A request is in flight. */
  readonly isWaiting: boolean;
  readonly reload: () => void;
}

interface State<T> {
  readonly answer: Answer<T> | undefined;
  readonly problem: Problem | undefined;
  readonly isWaiting: boolean;
}

/** @param path undefined if nothing is to be requested yet */
export function useApi<T>(path: string | undefined, options: RequestOptions = {}): ApiRequest<T> {
  const [count, setCount] = useState(0);
  const [state, setState] = useState<State<T>>({
    answer: undefined,
    problem: undefined,
    isWaiting: path !== undefined,
  });
  const body = JSON.stringify(options.json);
  const { as } = options;
  useEffect(() => {
    if (path === undefined) return undefined;
    const controller = new AbortController();
    setState((before) => ({ ...before, isWaiting: true }));
    callApi<T>(path, { ...options, signal: controller.signal }).then(
      (answer) =>
        !controller.signal.aborted && setState({ answer, problem: undefined, isWaiting: false }),
      (reason: unknown) =>
        !controller.signal.aborted &&
        setState({ answer: undefined, problem: toProblem(reason), isWaiting: false }),
    );
    return () => controller.abort();
  }, [path, body, as, count]);
  const reload = useCallback(() => setCount((before) => before + 1), []);
  return { ...state, reload };
}

/** Repeats the work at an interval while the screen is mounted and `isOn`. */
export function useInterval(ms: number, isOn: boolean, work: () => void): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(work, ms);
    return () => clearInterval(timer);
  }, [ms, isOn, work]);
}

interface Action {
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  readonly run: (work: () => Promise<void>) => void;
}

/** Runs a user action; reports whether it is in progress and the problem if it failed. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const run = useCallback((work: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    work()
      .catch((reason: unknown) => setProblem(toProblem(reason)))
      .finally(() => setBusy(false));
  }, []);
  return { isBusy, problem, run };
}
