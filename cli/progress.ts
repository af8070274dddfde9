// Progress of long work: a bar on a terminal, lines elsewhere, JSON lines when asked.
import { SingleBar } from 'cli-progress';

interface Progress {
  update(percent: number, status: string): void;
  end(): void;
}

/** A line is written when the status changes or this many percent have passed. */
const STEP_PERCENT = 10;

export function progress(label: string, out: NodeJS.WriteStream, json: boolean): Progress {
  if (json) return jsonLines(label, out);
  return out.isTTY ? bar(label, out) : lines(label, out);
}

function bar(label: string, stream: NodeJS.WriteStream): Progress {
  const format = `${label} {bar} {percentage}% {status} {duration_formatted}`;
  const drawn = new SingleBar({ format, stream, hideCursor: true, barsize: 30 });
  drawn.start(100, 0, { status: '' });
  return {
    update: (percent, status) => drawn.update(percent, { status }),
    end: () => drawn.stop(),
  };
}

function lines(label: string, out: NodeJS.WriteStream): Progress {
  return stepped((percent, status) => out.write(`${label}: ${percent} % ${status}\n`));
}

function jsonLines(label: string, out: NodeJS.WriteStream): Progress {
  return stepped((percent, status) => {
    out.write(`${JSON.stringify({ progress: percent, status, label })}\n`);
  });
}

function stepped(write: (percent: number, status: string) => void): Progress {
  let told = -STEP_PERCENT;
  let last = '';
  return {
    update: (percent, status) => {
      if (status === last && percent < told + STEP_PERCENT) return;
      told = percent;
      last = status;
      write(percent, status);
    },
    end: () => undefined,
  };
}
