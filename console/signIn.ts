// The first screen: a token, kept in memory.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from './asking/ask.ts';
import { signIn } from './asking/session.ts';
import { useDeed } from './asking/useAsk.ts';
import { Failed, Field, Head } from './showing/parts.ts';

const ABOUT =
  'With a token of an account: a secret one (sk_…) shows everything, a publishable one (pk_…) the data ' +
  'that it reads. The first start of the server printed both.';

export function SignIn(): JSX.Element {
  const [token, setToken] = useState('');
  const [remember, setRemember] = useState(false);
  const { isBusy, problem, run } = useDeed();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(() => proved(token.trim(), remember));
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
        'Lost it? On the server, ',
        h('code', null, 'tapedeck tokens list --show'),
        ' tells tokens.',
      ),
    ),
  );
}

/** What a header can hold; spaces are none. */
const PRINTABLE = /^[!-~]{1,256}$/;

/** A token that is no good is told at the door. */
async function proved(token: string, remember: boolean): Promise<void> {
  if (!PRINTABLE.test(token)) throw new Error('A token has letters, digits and _ alone.');
  await ask(pathOf(['attribution']), { unlisted: true, token });
  signIn(token, remember);
}
