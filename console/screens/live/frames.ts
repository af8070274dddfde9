// The latest messages of an open stream, in a list of limited length.
import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../../api/client.ts';
import { openStream } from '../../api/stream.ts';
import { number, plural } from '../../components/formats.ts';
import { Badge, Card, Empty, Failed } from '../../components/parts.ts';
import { shortText } from './frameText.ts';

interface FramesProps {
  readonly path: string;
  readonly onClose: () => void;
}

/** Maximum number of messages shown; older ones are only counted. */
const MESSAGES_MAX = 100;
/** Longer messages are truncated. */
const CHARACTERS_MAX = 8_000;
/** Messages that arrive within this interval are rendered together. */
const RENDER_INTERVAL_MS = 200;

interface MessageLog {
  readonly frames: readonly { readonly id: number; readonly text: string }[];
  readonly count: number;
}

export function Frames({ onClose, path }: FramesProps): JSX.Element {
  const [state, setState] = useState<'connecting' | 'open' | 'ended'>('connecting');
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [isPaused, setPaused] = useState(false);
  const [isFullText, setFullText] = useState(false);
  const log = useMessages(path, setState, setProblem, isPaused);
  return h(
    Card,
    {
      title: 'Messages',
      flush: true,
      actions: [
        h(Badge, { text: state, tone: state === 'open' ? 'good' : 'warn' }),
        h('span', { class: 'soft small', role: 'status' }, plural(log.count, 'message')),
        h(
          'button',
          { class: 'small', 'aria-pressed': isPaused, onClick: () => setPaused(!isPaused) },
          'Pause',
        ),
        h(
          'button',
          { class: 'small', 'aria-pressed': isFullText, onClick: () => setFullText(!isFullText) },
          'Full text',
        ),
        h('button', { class: 'small', onClick: onClose }, 'Disconnect'),
      ],
    },
    problem === undefined ? null : h(Failed, { problem }),
    log.frames.length === 0
      ? h(
          Empty,
          { title: state === 'ended' ? 'The stream has ended' : 'No messages yet' },
          'The latest message of each symbol comes first, then every later one.',
        )
      : h(
          'ol',
          { class: 'frames', tabIndex: 0, 'aria-label': 'Messages, newest first' },
          log.frames.map(({ id, text }) =>
            h(
              'li',
              { key: id },
              h('span', { class: 'soft' }, `${number(id)} `),
              isFullText ? text : shortText(text),
            ),
          ),
        ),
  );
}

function useMessages(
  path: string,
  setState: (state: 'open' | 'ended') => void,
  setProblem: (problem: Problem | undefined) => void,
  isPaused: boolean,
): MessageLog {
  const [displayed, setDisplayed] = useState<MessageLog>({ frames: [], count: 0 });
  const all = useRef<MessageLog>({ frames: [], count: 0 });
  const pausedRef = useRef(isPaused);
  pausedRef.current = isPaused;
  useEffect(() => {
    const end = openStream(path, {
      onOpen: () => setState('open'),
      onMessage: (text) => {
        const { count, frames } = all.current;
        const frame = { id: count + 1, text: text.slice(0, CHARACTERS_MAX) };
        all.current = { frames: [frame, ...frames].slice(0, MESSAGES_MAX), count: count + 1 };
      },
      onEnd: (reason) => {
        setState('ended');
        setProblem(reason);
      },
    });
    const timer = setInterval(
      () => pausedRef.current || setDisplayed(all.current),
      RENDER_INTERVAL_MS,
    );
    return () => {
      clearInterval(timer);
      end();
    };
  }, [path]);
  return displayed;
}
