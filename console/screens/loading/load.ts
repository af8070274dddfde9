// A file into a dataset: dropped or picked, looked at without a change, then loaded, with its job beside.
import { h, type JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useDeed } from '../../asking/useAsk.ts';
import { bytes } from '../../showing/formats.ts';
import { Card, Choice, Failed, Head, Text } from '../../showing/parts.ts';
import { JobProgress } from './jobProgress.ts';
import { type DryRun, Preview } from './preview.ts';

interface Chosen {
  readonly file: File;
  readonly dataset: string;
}

const HANDLING = [
  ['', 'replace the stored record on a declared index; otherwise keep every record'],
  ['keep-first', 'keep the stored record'],
  ['reject', 'reject the record of the file'],
  ['skip-identical', 'leave out records that are stored already'],
  ['keep-all', 'keep every record, also of a file that was loaded before'],
] as const;

/** What a file is called, as a dataset is named. */
const nameFor = (file: string): string =>
  (file.split('.')[0] ?? '')
    .split(/\W/)
    .filter((word) => word !== '')
    .join('_')
    .toUpperCase()
    .slice(0, 128) || 'DATA';

export function Load({ workspace }: { readonly workspace: string }): JSX.Element {
  const [chosen, setChosen] = useState<Chosen | undefined>(undefined);
  const [handling, setHandling] = useState<string>(HANDLING[0][0]);
  const [preview, setPreview] = useState<DryRun | undefined>(undefined);
  const [jobId, setJobId] = useState<string | undefined>(undefined);
  const { isBusy, problem, run } = useDeed();
  const path = (dataset: string, more: object): string =>
    pathOf(['data', workspace, dataset], {
      ...(handling === '' ? {} : { duplicates: handling }),
      ...more,
    });
  const look = (next: Chosen): void => {
    setChosen(next);
    setPreview(undefined);
    setJobId(undefined);
    run(async () => {
      const question = { method: 'POST', file: next.file } as const;
      const { value } = await ask<DryRun>(path(next.dataset, { dryRun: true }), question);
      setPreview(value);
    });
  };
  // What was looked at is not what would be loaded any more.
  const choose = (next: Chosen): void => {
    setChosen(next);
    setPreview(undefined);
  };
  const handle = (next: string): void => {
    setHandling(next);
    setPreview(undefined);
  };
  const load = ({ dataset, file }: Chosen): void =>
    run(async () => {
      const { value } = await ask<{ readonly jobId: string }>(path(dataset, {}), {
        method: 'POST',
        file,
      });
      setJobId(value.jobId);
    });
  return h(
    'div',
    null,
    h(Head, { title: 'Load a file', about: ABOUT }),
    h(Drop, { onFile: (file) => look({ file, dataset: nameFor(file.name) }) }),
    h('div', { style: { height: '16px' } }),
    chosen === undefined
      ? null
      : h(ChosenFile, {
          chosen,
          handling,
          isBusy,
          onHandling: handle,
          onChange: choose,
          isReady:
            !isBusy && jobId === undefined && preview !== undefined && preview.error === null,
          onLook: () => look(chosen),
          onLoad: () => load(chosen),
        }),
    problem === undefined ? null : h(Failed, { problem }),
    jobId === undefined ? null : h(JobProgress, { workspace, jobId }),
    preview === undefined || jobId !== undefined ? null : h(Preview, { preview }),
  );
}

const ABOUT =
  'CSV, JSON, JSON lines, Parquet or Arrow, also packed. It is looked at first, and nothing changes ' +
  'until you load it.';

interface ChosenProps {
  readonly chosen: Chosen;
  readonly handling: string;
  readonly isBusy: boolean;
  readonly isReady: boolean;
  readonly onHandling: (handling: string) => void;
  readonly onChange: (chosen: Chosen) => void;
  readonly onLook: () => void;
  readonly onLoad: () => void;
}

function ChosenFile(props: ChosenProps): JSX.Element {
  const { chosen, handling, isBusy, isReady, onChange, onHandling, onLoad, onLook } = props;
  const submit = (event: Event): void => {
    event.preventDefault();
    onLook();
  };
  return h(
    Card,
    {
      title: `${chosen.file.name}, ${bytes(chosen.file.size)}`,
      actions: h('button', { class: 'primary', disabled: !isReady, onClick: onLoad }, 'Load it'),
    },
    h(
      'form',
      { class: 'form', onSubmit: submit },
      h(Text, {
        label: 'Dataset',
        value: chosen.dataset,
        required: true,
        onText: (dataset) =>
          onChange({
            ...chosen,
            dataset: dataset.trim(),
          }),
      }),
      h(Choice, {
        label: 'Duplicates',
        value: handling,
        options: HANDLING,
        onPick: onHandling,
      }),
      h('button', { type: 'submit', disabled: isBusy }, isBusy ? 'Looking …' : 'Look again'),
    ),
  );
}

function Drop({ onFile }: { readonly onFile: (file: File) => void }): JSX.Element {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const over = (event: DragEvent, is: boolean): void => {
    event.preventDefault();
    setOver(is);
  };
  return h(
    'div',
    {
      class: `drop ${isOver ? 'over' : ''}`,
      onDragOver: (event: DragEvent) => over(event, true),
      onDragLeave: (event: DragEvent) => over(event, false),
      onDrop: (event: DragEvent) => {
        over(event, false);
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
    h('button', { class: 'primary', onClick: () => input.current?.click() }, 'Pick a file'),
  );
}
