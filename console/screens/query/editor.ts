// SQL editor, loaded on demand. A plain text area replaces it until it is loaded, or if loading fails.
import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Dataset } from '../../api/answers.ts';
import type { Problem } from '../../api/client.ts';
import type { CodeEditor } from './codeEditor.ts';
import { findErrorPlace } from './errorPlace.ts';

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
    let instance: CodeEditor | undefined;
    let isUnmounted = false;
    void import('./codeEditor.ts').then(({ createCodeEditor }) => {
      if (isUnmounted || box.current === null) return;
      instance = createCodeEditor(box.current, {
        text,
        onText: (now) => latest.current.onText(now),
        onRun: () => latest.current.onRun(),
      });
      setEditor(instance);
    });
    return () => {
      isUnmounted = true;
      instance?.end();
    };
  }, []);
  useEffect(() => editor?.offer(tables), [editor, tables]);
  useEffect(() => editor?.write(text), [editor, text]);
  useEffect(() => {
    editor?.mark(
      problem === undefined
        ? undefined
        : { ...findErrorPlace(problem.message), message: problem.message },
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
