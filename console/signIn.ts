// Sign-in page: checks a token and starts the session.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from './api/client.ts';
import { signIn } from './api/session.ts';
import { useAction } from './api/useApi.ts';
import { Failed, Field, Head } from './components/parts.ts';

const ABOUT =
  'Use a token of your account: a secret one (sk_…) shows everything, a publishable one (pk_…) only ' +
  'the data that it may read. The server printed both on its first start.';

export function SignIn(): JSX.Element {
  const [token, setToken] = useState('');
  const [remember, setRemember] = useState(false);
  const { isBusy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(() => verifyToken(token.trim(), remember));
  };
  return h(
    'main',
    { class: 'gate' },
    h(
      'form',
      { onSubmit: submit, class: 'stack' },
      h(Head, { title: 'Sign in to Tapedeck' }),
      h('p', { class: 'soft' }, ABOUT),
      h(
        Field,
        { label: 'Token' },
        h('input', {
          type: 'password',
          name: 'token',
          autoComplete: 'off',
          required: true,
          spellcheck: false,
          value: token,
          onInput: (event: Event) => setToken((event.target as HTMLInputElement).value),
        }),
      ),
      h(
        'label',
        { class: 'check' },
        h('input', {
          type: 'checkbox',
          checked: remember,
          onChange: (event: Event) => setRemember((event.target as HTMLInputElement).checked),
        }),
        'Remember in this tab until it is closed',
      ),
      problem === undefined ? null : h(Failed, { problem }),
      h(
        'button',
        { class: 'primary', type: 'submit', disabled: isBusy || token.trim() === '' },
        'Sign in',
      ),
      h(
        'p',
        { class: 'soft small' },
        'Lost it? Run ',
        h('code', null, 'tapedeck tokens list --show'),
        ' on the server.',
      ),
    ),
  );
}

/** Printable ASCII without spaces, as a header value allows. */
const PRINTABLE = /^[!-~]{1,256}$/;

/** Checks the token with a free request before it starts the session. */
async function verifyToken(token: string, remember: boolean): Promise<void> {
  if (!PRINTABLE.test(token)) throw new Error('A token contains only letters, digits and _.');
  await callApi(apiPath(['attribution']), { unlisted: true, token });
  signIn(token, remember);
}
