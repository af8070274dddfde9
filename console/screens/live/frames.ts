// A stream that is open: its newest messages, in a list that does not grow for ever.
import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../../asking/ask.ts';
import { openStream } from '../../asking/stream.ts';
import { number, plural } from '../../showing/formats.ts';
import { Badge, Card, Empty, Failed } from '../../showing/parts.ts';
import { shortOf } from './frameText.ts';

interface FramesProps {
  readonly path: string;
  readonly onClose: () => void;
}

/** Messages that are shown; older ones are counted. */
const SHOWN_MAX = 100;
/** Characters of one that are kept. */
const CHARACTERS_MAX = 8_000;
/** What comes faster than this is shown at once. */
const SHOW_MS = 200;

interface Heard {
  readonly frames: readonly { readonly id: number; readonly text: string }[];
  readonly count: number;
}

export function Frames({ onClose, path }: FramesProps): JSX.Element {
  const [state, setState] = useState<'connecting' | 'open' | 'ended'>('connecting');
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [isHeld, setHeld] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const heard = useHeard(path, setState, setProblem, isHeld);
  return h(
    Card,
    {
      title: 'Messages',
      flush: true,
      actions: [
        h(Badge, { text: state, tone: state === 'open' ? 'good' : 'warn' }),
        h('span', { class: 'soft small', role: 'status' }, plural(heard.count, 'message')),
        h(
          'button',
          { class: 'small', 'aria-pressed': isHeld, onClick: () => setHeld(!isHeld) },
          'Hold',
        ),
        h(
          'button',
          { class: 'small', 'aria-pressed': isWhole, onClick: () => setWhole(!isWhole) },
          'Whole',
        ),
        h('button', { class: 'small', onClick: onClose }, 'Disconnect'),
      ],
    },
    problem === undefined ? null : h(Failed, { problem }),
    heard.frames.length === 0
      ? h(
          Empty,
          { title: state === 'ended' ? 'It has ended' : 'Nothing has happened yet' },
          'The newest message of each symbol comes first, then what follows.',
        )
      : h(
          'ol',
          { class: 'frames', tabIndex: 0, 'aria-label': 'Messages, newest first' },
          heard.frames.map(({ id, text }) =>
            h(
              'li',
              { key: id },
              h('span', { class: 'soft' }, `${number(id)} `),
              isWhole ? text : shortOf(text),
            ),
          ),
        ),
  );
}

function useHeard(
  path: string,
  setState: (state: 'open' | 'ended') => void,
  setProblem: (problem: Problem | undefined) => void,
  isHeld: boolean,
): Heard {
  const [shownNow, setShown] = useState<Heard>({ frames: [], count: 0 });
  const all = useRef<Heard>({ frames: [], count: 0 });
  const held = useRef(isHeld);
  held.current = isHeld;
  useEffect(() => {
    const end = openStream(path, {
      onOpen: () => setState('open'),
      onMessage: (text) => {
        const { count, frames } = all.current;
        const frame = { id: count + 1, text: text.slice(0, CHARACTERS_MAX) };
        all.current = { frames: [frame, ...frames].slice(0, SHOWN_MAX), count: count + 1 };
      },
      onEnd: (why) => {
        setState('ended');
        setProblem(why);
      },
    });
    const timer = setInterval(() => held.current || setShown(all.current), SHOW_MS);
    return () => {
      clearInterval(timer);
      end();
    };
  }, [path]);
  return shownNow;
}
