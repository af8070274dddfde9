// A screen's questions: asked when it is shown, again when the path changes or somebody wants it.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { type Answer, ask, type Problem, problemOf, type Question } from './ask.ts';

export interface Asked<T> {
  readonly answer: Answer<T> | undefined;
  readonly problem: Problem | undefined;
  /** A newer answer is on its way. */
  readonly isWaiting: boolean;
  readonly again: () => void;
}

interface State<T> {
  readonly answer: Answer<T> | undefined;
  readonly problem: Problem | undefined;
  readonly isWaiting: boolean;
}

/** @param path undefined: nothing is asked yet */
export function useAsk<T>(path: string | undefined, question: Question = {}): Asked<T> {
  const [count, setCount] = useState(0);
  const [state, setState] = useState<State<T>>({
    answer: undefined,
    problem: undefined,
    isWaiting: path !== undefined,
  });
  const body = JSON.stringify(question.json);
  const { as } = question;
  useEffect(() => {
    if (path === undefined) return undefined;
    const gone = new AbortController();
    setState((before) => ({ ...before, isWaiting: true }));
    ask<T>(path, { ...question, signal: gone.signal }).then(
      (answer) =>
        !gone.signal.aborted && setState({ answer, problem: undefined, isWaiting: false }),
      (reason: unknown) =>
        !gone.signal.aborted &&
        setState({ answer: undefined, problem: problemOf(reason), isWaiting: false }),
    );
    return () => gone.abort();
  }, [path, body, as, count]);
  const again = useCallback(() => setCount((before) => before + 1), []);
  return { ...state, again };
}

/** Asks again after so long, for as long as the screen is shown and `isOn`. */
export function useEvery(ms: number, isOn: boolean, work: () => void): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(work, ms);
    return () => clearInterval(timer);
  }, [ms, isOn, work]);
}

interface Deed {
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  readonly run: (work: () => Promise<void>) => void;
}

/** Something a person does: busy while it is done, with the reason where it was not. */
export function useDeed(): Deed {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const run = useCallback((work: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    work()
      .catch((reason: unknown) => setProblem(problemOf(reason)))
      .finally(() => setBusy(false));
  }, []);
  return { isBusy, problem, run };
}
