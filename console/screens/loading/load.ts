// Load screen: choose a file, preview it with a dry run, load it, and follow its job.
import { h, type JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useAction } from '../../api/useApi.ts';
import { bytes } from '../../components/formats.ts';
import { Card, Choice, Failed, Head, Text } from '../../components/parts.ts';
import { JobProgress } from './jobProgress.ts';
import { type DryRun, Preview } from './preview.ts';

interface Selection {
  readonly file: File;
  readonly dataset: string;
}

const HANDLING = [
  ['', 'replace the stored record on a declared index; otherwise keep every record'],
  ['keep-first', 'keep the stored record'],
  ['reject', 'reject the record of the file'],
  ['skip-identical', 'skip records that are already stored'],
  ['keep-all', 'keep every record, even of a file that was loaded before'],
] as const;

/** Derives a dataset name from a file name. */
const toDatasetName = (file: string): string =>
  (file.split('.')[0] ?? '')
    .split(/\W/)
    .filter((word) => word !== '')
    .join('_')
    .toUpperCase()
    .slice(0, 128) || 'DATA';

export function Load({ workspace }: { readonly workspace: string }): JSX.Element {
  const [selection, setSelection] = useState<Selection | undefined>(undefined);
  const [handling, setHandling] = useState<string>(HANDLING[0][0]);
  const [preview, setPreview] = useState<DryRun | undefined>(undefined);
  const [jobId, setJobId] = useState<string | undefined>(undefined);
  const { isBusy, problem, run } = useAction();
  const path = (dataset: string, more: object): string =>
    apiPath(['data', workspace, dataset], {
      ...(handling === '' ? {} : { duplicates: handling }),
      ...more,
    });
  const requestPreview = (next: Selection): void => {
    setSelection(next);
    setPreview(undefined);
    setJobId(undefined);
    run(async () => {
      const options = { method: 'POST', file: next.file } as const;
      const { value } = await callApi<DryRun>(path(next.dataset, { dryRun: true }), options);
      setPreview(value);
    });
  };
  // A changed selection invalidates the preview.
  const choose = (next: Selection): void => {
    setSelection(next);
    setPreview(undefined);
  };
  const handle = (next: string): void => {
    setHandling(next);
    setPreview(undefined);
  };
  const load = ({ dataset, file }: Selection): void =>
    run(async () => {
      const { value } = await callApi<{ readonly jobId: string }>(path(dataset, {}), {
        method: 'POST',
        file,
      });
      setJobId(value.jobId);
    });
  return h(
    'div',
    null,
    h(Head, { title: 'Load a file', about: ABOUT }),
    h(Drop, { onFile: (file) => requestPreview({ file, dataset: toDatasetName(file.name) }) }),
    h('div', { style: { height: '16px' } }),
    selection === undefined
      ? null
      : h(SelectedFile, {
          selection,
          handling,
          isBusy,
          onHandling: handle,
          onChange: choose,
          isReady:
            !isBusy && jobId === undefined && preview !== undefined && preview.error === null,
          onPreview: () => requestPreview(selection),
          onLoad: () => load(selection),
        }),
    problem === undefined ? null : h(Failed, { problem }),
    jobId === undefined ? null : h(JobProgress, { workspace, jobId }),
    preview === undefined || jobId !== undefined ? null : h(Preview, { preview }),
  );
}

const ABOUT =
  'CSV, JSON, JSON lines, Parquet or Arrow, also compressed. You see a preview first; nothing changes ' +
  'until you load it.';

interface SelectedFileProps {
  readonly selection: Selection;
  readonly handling: string;
  readonly isBusy: boolean;
  readonly isReady: boolean;
  readonly onHandling: (handling: string) => void;
  readonly onChange: (selection: Selection) => void;
  readonly onPreview: () => void;
  readonly onLoad: () => void;
}

function SelectedFile(props: SelectedFileProps): JSX.Element {
  const { selection, handling, isBusy, isReady, onChange, onHandling, onLoad, onPreview } = props;
  const submit = (event: Event): void => {
    event.preventDefault();
    onPreview();
  };
  return h(
    Card,
    {
      title: `${selection.file.name}, ${bytes(selection.file.size)}`,
      actions: h(
        'button',
        { class: 'primary', disabled: !isReady, onClick: onLoad },
        'Load the file',
      ),
    },
    h(
      'form',
      { class: 'form', onSubmit: submit },
      h(Text, {
        label: 'Dataset',
        value: selection.dataset,
        required: true,
        onText: (dataset) =>
          onChange({
            ...selection,
            dataset: dataset.trim(),
          }),
      }),
      h(Choice, {
        label: 'Duplicates',
        value: handling,
        options: HANDLING,
        onPick: onHandling,
      }),
      h(
        'button',
        { type: 'submit', disabled: isBusy },
        isBusy ? 'Loading the preview …' : 'Preview again',
      ),
    ),
  );
}

function Drop({ onFile }: { readonly onFile: (file: File) => void }): JSX.Element {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const setDragOver = (event: DragEvent, isInside: boolean): void => {
    event.preventDefault();
    setOver(isInside);
  };
  return h(
    'div',
    {
      class: `drop ${isOver ? 'over' : ''}`,
      onDragOver: (event: DragEvent) => setDragOver(event, true),
      onDragLeave: (event: DragEvent) => setDragOver(event, false),
      onDrop: (event: DragEvent) => {
        setDragOver(event, false);
        const file = event.dataTransfer?.files[0];
        if (file !== undefined) onFile(file);
      },
    },
    h('p', null, 'Drop a file here, or'),
    h('input', {
      ref: input,
      type: 'file',
      class: 'hidden',
      tabIndex: -1,
      'aria-label': 'File to load',
      onChange: () => {
        const file = input.current?.files?.[0];
        if (file !== undefined) onFile(file);
      },
    }),
    h('button', { class: 'primary', onClick: () => input.current?.click() }, 'Choose a file'),
  );
}
