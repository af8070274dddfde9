// A small histogram: bars without axes, with a text description.
import { h, type JSX } from 'preact';

interface BarsProps {
  readonly label: string;
  readonly counts: readonly number[];
}

const WIDTH = 240;
const HEIGHT = 44;

export function Bars({ counts, label }: BarsProps): JSX.Element {
  const most = Math.max(1, ...counts);
  const width = WIDTH / Math.max(1, counts.length);
  return h(
    'svg',
    {
      class: 'bars',
      role: 'img',
      'aria-label': label,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
    },
    counts.map((count, index) => {
      const height = count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT);
      const place = {
        x: index * width,
        y: HEIGHT - height,
        width: Math.max(0.5, width - 1),
        height,
      };
      return h('rect', { key: index, ...place });
    }),
  );
}
