// A person comes in: by a token that she gives, or by what this tab remembers. The screens are fetched while
// she types, so that the first thing she needs is there before everything else.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { currentSession, onSession } from './asking/session.ts';
import { Empty } from './showing/parts.ts';
import { SignIn } from './signIn.ts';

type Frame = (typeof import('./frame.ts'))['Frame'];

/** After the first screen was drawn. */
const FETCH_AFTER_MS = 300;

export function Door(): JSX.Element {
  const [session, setSession] = useState(currentSession);
  const [frame, setFrame] = useState<{ readonly Frame: Frame } | 'missing' | undefined>(undefined);
  useEffect(() => onSession(() => setSession(currentSession())), []);
  const isWanted = session !== undefined;
  useEffect(() => {
    const fetchFrame = (): void =>
      void import('./frame.ts').then(setFrame, () => setFrame('missing'));
    const timer = setTimeout(fetchFrame, isWanted ? 0 : FETCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isWanted]);
  if (session === undefined) return h(SignIn, {});
  if (frame === 'missing') return h(Missing, {});
  if (frame === undefined) return h('p', { class: 'waiting', role: 'status' }, 'Loading …');
  return h(frame.Frame, { key: session.token, session });
}

/** The server is away, or has become another release since the page was opened. */
const Missing = (): JSX.Element =>
  h(
    'main',
    { class: 'gate' },
    h(
      Empty,
      { title: 'The screens could not be fetched.' },
      h('p', null, 'The server does not answer, or it is another release than this page.'),
      h('button', { class: 'primary', onClick: () => location.reload() }, 'Load the page again'),
    ),
  );
