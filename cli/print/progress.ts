// Shows the progress of long work: a bar on a terminal, lines on other outputs, JSON lines with --json.
import { SingleBar } from 'cli-progress';
import { monotonicMs } from '../../store/base/clock.ts';
import type { Output } from '../connect/terminal.ts';

interface Progress {
  update(state: WorkState): void;
  end(): void;
}

interface WorkState {
  /** 0 to 100. */
  readonly percent: number;
  readonly status: string;
  /** Total bytes; 0 while unknown. */
  readonly bytes: number;
  /** Records read so far; 0 while they are not counted. */
  readonly records: number;
}

/** Speed and remaining time. */
interface Pace {
  readonly seconds: number;
  readonly bytesDone: number;
  readonly bytesPerSecond: number;
  /** Undefined while it can't be estimated. */
  readonly secondsLeft: number | undefined;
}

/** A line is written when the status changes, or after so many percent. */
const STEP_PERCENT = 10;
/** Progress below which the remaining time can't be estimated. */
const ESTIMATE_PERCENT = 3;

export function progress(label: string, out: Output, json: boolean): Progress {
  const startMs = monotonicMs();
  const paced = (show: (state: WorkState, pace: Pace) => void, end: () => void): Progress => ({
    update: (state) => show(state, paceOf(state, (monotonicMs() - startMs) / 1_000)),
    end,
  });
  if (!json && out.isTTY) return bar(label, out, paced);
  const line = json ? jsonLine : textLine;
  const write = stepped((state, pace) => out.write(`${line(label, state, pace)}\n`));
  return paced(write, () => undefined);
}

/** Computes the pace of a state that was reached after so many seconds. Pure. */
export function paceOf({ bytes, percent }: WorkState, seconds: number): Pace {
  const bytesDone = Math.round((bytes * percent) / 100);
  const isEstimable = percent >= ESTIMATE_PERCENT && percent < 100 && seconds > 0;
  return {
    seconds,
    bytesDone,
    bytesPerSecond: seconds > 0 ? Math.round(bytesDone / seconds) : 0,
    secondsLeft: isEstimable ? (seconds * (100 - percent)) / percent : undefined,
  };
}

type Paced = (show: (state: WorkState, pace: Pace) => void, end: () => void) => Progress;

function bar(label: string, stream: Output, paced: Paced): Progress {
  const format = `${label} {bar} {percentage}% {status} {details}`;
  const widget = new SingleBar({ format, stream, hideCursor: true, barsize: 24, linewrap: null });
  widget.start(100, 0, { status: '', details: '' });
  return paced(
    (state, pace) => {
      widget.update(state.percent, { status: state.status, details: formatDetails(state, pace) });
    },
    () => widget.stop(),
  );
}

const textLine = (label: string, state: WorkState, pace: Pace): string =>
  `${label}: ${state.percent} % ${state.status} ${formatDetails(state, pace)}`.trimEnd();

function jsonLine(label: string, state: WorkState, pace: Pace): string {
  const { secondsLeft, ...counted } = pace;
  const { percent, ...rest } = state;
  const left = secondsLeft === undefined ? null : Math.round(secondsLeft * 10) / 10;
  const seconds = Math.round(pace.seconds * 10) / 10;
  return JSON.stringify({
    label,
    progress: percent,
    ...rest,
    ...counted,
    seconds,
    secondsLeft: left,
  });
}

/** Formats records, bytes, rate and remaining time, if they are known. */
function formatDetails(
  { bytes, records }: WorkState,
  { bytesDone, bytesPerSecond, secondsLeft }: Pace,
): string {
  const parts = [
    ...(records > 0 ? [`${records.toLocaleString('en-US')} records`] : []),
    ...(bytes > 0
      ? [`${sizeOf(bytesDone)} of ${sizeOf(bytes)}`, `${sizeOf(bytesPerSecond)}/s`]
      : []),
    ...(secondsLeft === undefined ? [] : [`${timeOf(secondsLeft)} left`]),
  ];
  return parts.join(', ');
}

const sizeOf = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

function timeOf(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

function stepped(
  write: (state: WorkState, pace: Pace) => void,
): (state: WorkState, pace: Pace) => void {
  let lastPercent = -STEP_PERCENT;
  let last = '';
  return (state, pace) => {
    if (state.status === last && state.percent < lastPercent + STEP_PERCENT) return;
    lastPercent = state.percent;
    last = state.status;
    write(state, pace);
  };
}
