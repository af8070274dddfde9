// Root component: shows the sign-in page or, with a session, the screens. Preloads the screens while the
// user types a token, so that the sign-in page loads first.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { currentSession, onSession } from './api/session.ts';
import { Empty } from './components/parts.ts';
import { SignIn } from './signIn.ts';

type Frame = (typeof import('./frame.ts'))['Frame'];

/** Delay after the sign-in page is rendered. */
const FETCH_AFTER_MS = 300;

export function App(): JSX.Element {
  const [session, setSession] = useState(currentSession);
  const [frame, setFrame] = useState<{ readonly Frame: Frame } | 'missing' | undefined>(undefined);
  useEffect(() => onSession(() => setSession(currentSession())), []);
  const isSignedIn = session !== undefined;
  useEffect(() => {
    const fetchFrame = (): void =>
      void import('./frame.ts').then(setFrame, () => setFrame('missing'));
    const timer = setTimeout(fetchFrame, isSignedIn ? 0 : FETCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isSignedIn]);
  if (session === undefined) return h(SignIn, {});
  if (frame === 'missing') return h(LoadError, {});
  if (frame === undefined) return h('p', { class: 'waiting', role: 'status' }, 'Loading …');
  return h(frame.Frame, { key: session.token, session });
}

/** The server is unavailable, or its release changed after the page was opened. */
const LoadError = (): JSX.Element =>
  h(
    'main',
    { class: 'gate' },
    h(
      Empty,
      { title: 'Cannot load the screens.' },
      h('p', null, 'The server does not respond, or it runs another release than this page.'),
      h('button', { class: 'primary', onClick: () => location.reload() }, 'Reload the page'),
    ),
  );
