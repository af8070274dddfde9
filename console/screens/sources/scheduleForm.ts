// Form for a new schedule: source, dataset and time.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useAction } from '../../api/useApi.ts';
import { Dialog } from '../../components/dialog.ts';
import { Choice, Failed, Text } from '../../components/parts.ts';
import type { Source } from './sourceForm.ts';

interface FormProps {
  readonly workspace: string;
  readonly sources: readonly Source[];
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

const INTERVALS = [
  ['day', 'every day, at midnight'],
  ['hour', 'every hour'],
  ['minute', 'every minute'],
  ['cron', 'by a cron expression'],
] as const;

const ATTEMPTS = ['1', '3', '5', '10'].map((count) => [count, count] as const);

export function ScheduleForm({ onClose, onCreated, sources, workspace }: FormProps): JSX.Element {
  const [source, setSource] = useState(sources[0]?.dataSourceId ?? '');
  const [datasetId, setDataset] = useState('');
  const [every, setEvery] = useState<string>('day');
  const [cron, setCron] = useState('0 18 * * 1-5');
  const [timeZone, setTimeZone] = useState('UTC');
  const [attempts, setAttempts] = useState('3');
  const { isBusy, problem, run } = useAction();
  const save = (event: Event): void => {
    event.preventDefault();
    const json = {
      dataSourceId: source,
      datasetId: datasetId.trim(),
      ...(every === 'cron' ? { cron } : { every }),
      timeZone: timeZone.trim(),
      attempts: Number(attempts),
    };
    run(async () => {
      await callApi(apiPath(['ingestion-schedules', workspace]), { json });
      onCreated();
    });
  };
  return h(
    Dialog,
    { title: 'Create a schedule', onClose },
    h(
      'form',
      { class: 'stack', onSubmit: save },
      h(Choice, {
        label: 'Source',
        value: source,
        options: sources.map(({ dataSourceId, name }) => [dataSourceId, name] as const),
        onPick: setSource,
      }),
      h(Text, {
        label: 'Dataset',
        value: datasetId,
        onText: setDataset,
        required: true,
        hint: 'The first run creates it if it does not exist.',
      }),
      h(Choice, { label: 'When', value: every, options: INTERVALS, onPick: setEvery }),
      every === 'cron'
        ? h(Text, { label: 'Cron expression', value: cron, onText: setCron, required: true })
        : null,
      h(TimeZone, { value: timeZone, onText: setTimeZone }),
      h(Choice, {
        label: 'Attempts of a run',
        value: attempts,
        options: ATTEMPTS,
        onPick: setAttempts,
      }),
      problem === undefined ? null : h(Failed, { problem }),
      h('p', { class: 'soft small' }, 'The first run starts immediately.'),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', onClick: onClose }, 'Cancel'),
        h('button', { class: 'primary', type: 'submit', disabled: isBusy }, 'Create'),
      ),
    ),
  );
}

interface TimeZoneProps {
  readonly value: string;
  readonly onText: (text: string) => void;
}

const TimeZone = (props: TimeZoneProps): JSX.Element =>
  h(Text, {
    label: 'Time zone',
    value: props.value,
    onText: props.onText,
    required: true,
    hint: 'IANA name, such as Europe/Berlin.',
  });
