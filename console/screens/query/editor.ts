// The editor of SQL. It comes when the screen is shown; until then, and where it can't come, a plain text
// area does its work.
import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Dataset } from '../../asking/answers.ts';
import type { Problem } from '../../asking/ask.ts';
import type { CodeEditor } from './codeEditor.ts';
import { placeOf } from './errorPlace.ts';

interface EditorProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onRun: () => void;
  readonly tables: readonly Dataset[];
  readonly problem: Problem | undefined;
}

export function Editor({ onRun, onText, problem, tables, text }: EditorProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<CodeEditor | undefined>(undefined);
  const latest = useRef({ onText, onRun });
  latest.current = { onText, onRun };
  useEffect(() => {
    let made: CodeEditor | undefined;
    let isGone = false;
    void import('./codeEditor.ts').then(({ codeEditor }) => {
      if (isGone || box.current === null) return;
      made = codeEditor(box.current, {
        text,
        onText: (now) => latest.current.onText(now),
        onRun: () => latest.current.onRun(),
      });
      setEditor(made);
    });
    return () => {
      isGone = true;
      made?.end();
    };
  }, []);
  useEffect(() => editor?.offer(tables), [editor, tables]);
  useEffect(() => editor?.write(text), [editor, text]);
  useEffect(() => {
    editor?.mark(
      problem === undefined ? undefined : { ...placeOf(problem.message), message: problem.message },
    );
  }, [editor, problem]);
  return h(
    'div',
    null,
    h('div', { class: 'editor', ref: box }),
    editor === undefined
      ? h('textarea', {
          class: 'code',
          rows: 6,
          value: text,
          'aria-label': 'SQL query',
          spellcheck: false,
          onInput: (event: Event) => onText((event.target as HTMLTextAreaElement).value),
        })
      : null,
  );
}
