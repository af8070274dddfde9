// CodeMirror in a shadow root, where its styles become constructed sheets, which a strict policy allows.
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { sql, SQLDialect } from '@codemirror/lang-sql';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Dataset } from '../../api/answers.ts';
import { completeFunctions } from './functions.ts';
import type { ErrorPlace } from './errorPlace.ts';

export interface CodeEditor {
  readonly offer: (tables: readonly Dataset[]) => void;
  /** Replaces the text if it differs. */
  readonly write: (text: string) => void;
  readonly mark: (error: (ErrorPlace & { readonly message: string }) | undefined) => void;
  readonly end: () => void;
}

interface EditorOptions {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onRun: () => void;
}

const KEYWORDS =
  'select from where group by having order limit offset with as on using join left right full inner ' +
  'cross outer semi anti asof lateral union intersect except all distinct case when then else end and or ' +
  'not in is null like ilike between exists cast try_cast interval date timestamp over partition rows ' +
  'range unbounded preceding following current row filter qualify exclude replace rename columns pivot ' +
  'unpivot describe summarize show tables asc desc nulls first last true false values window';

const DIALECT = SQLDialect.define({
  keywords: KEYWORDS,
  types: 'boolean integer bigint decimal float double varchar date time timestamp interval json',
  identifierQuotes: '`',
  doubleQuotedStrings: true,
  backslashEscapes: false,
});

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--chart-4)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--chart-2)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--ink-soft)', fontStyle: 'italic' },
  { tag: tags.typeName, color: 'var(--chart-3)' },
]);

const THEME = EditorView.theme({
  '&': { fontSize: '13px', color: 'var(--ink)', backgroundColor: 'var(--surface)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
    maxHeight: '320px',
  },
  '.cm-content': { padding: '10px 0', minHeight: '120px', caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-soft)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    color: 'var(--ink)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--ink)',
  },
  '.cm-completionDetail': { color: 'var(--ink-soft)' },
});

/**
 * Replaces a selection before the browser does. A browser that types over coloured text keeps the colour as
 * an inline style, which the policy refuses with an error in the browser's console.
 */
const REPLACING = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data, inputType, isComposing } = event;
    if (inputType !== 'insertText' || data === null || isComposing) return false;
    if (view.state.selection.ranges.every(({ empty }) => empty)) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(data), {
      scrollIntoView: true,
      userEvent: 'input.type',
    });
    return true;
  },
});

export function createCodeEditor(
  place: HTMLElement,
  { onRun, onText, text }: EditorOptions,
): CodeEditor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: 'open' });
  const language = new Compartment();
  const run = (): boolean => {
    onRun();
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([{ key: 'Ctrl-Enter', mac: 'Cmd-Enter', run }])),
        keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        closeBrackets(),
        autocompletion(),
        syntaxHighlighting(COLOURS),
        THEME,
        EditorView.lineWrapping,
        REPLACING,
        language.of(buildLanguage([])),
        EditorView.contentAttributes.of({ 'aria-label': 'SQL query', spellcheck: 'false' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onText(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    offer: (tables) => view.dispatch({ effects: language.reconfigure(buildLanguage(tables)) }),
    write: (now) => {
      const { doc } = view.state;
      if (doc.toString() !== now)
        view.dispatch({ changes: { from: 0, to: doc.length, insert: now } });
    },
    mark: (error) => view.dispatch(setDiagnostics(view.state, toDiagnostics(view, error))),
    end: () => view.destroy(),
  };
}

const buildLanguage = (tables: readonly Dataset[]): Extension => [
  sql({
    dialect: DIALECT,
    upperCaseKeywords: true,
    schema: Object.fromEntries(
      tables.map(({ datasetId, schema }) => [datasetId, Object.keys(schema.properties)]),
    ),
  }),
  DIALECT.language.data.of({ autocomplete: completeFunctions(tables) }),
];

function toDiagnostics(
  { state }: EditorView,
  error: (ErrorPlace & { readonly message: string }) | undefined,
): Diagnostic[] {
  if (error === undefined) return [];
  const line = state.doc.line(Math.min(state.doc.lines, Math.max(1, error.line)));
  const from = Math.min(line.to, line.from + Math.max(0, error.column - 1));
  const word = state.wordAt(from);
  const to = Math.max(word?.to ?? from, Math.min(line.to, from + 1));
  return [{ from, to, severity: 'error', message: error.message }];
}
