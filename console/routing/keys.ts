// The keyboard: `g` and a letter goes somewhere, `/` to the search of the screen, `?` shows all of it.

interface Shortcut {
  readonly letter: string;
  readonly title: string;
  readonly href: () => string;
}

interface Keys {
  readonly shortcuts: () => readonly Shortcut[];
  readonly go: (href: string) => void;
  readonly help: () => void;
}

/** After `g`, the letter must come within this time. */
const SECOND_KEY_MS = 1_200;

/** Where keys are text. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.closest(
    'input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]',
  ) !== null ||
    target.shadowRoot !== null);

export function listenToKeys({ shortcuts, go, help }: Keys): () => void {
  /** When `g` was pressed, by the keyboard's clock: a page that is busy hears of keys late. */
  let beganMs = Number.NEGATIVE_INFINITY;
  const pressed = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    if (event.timeStamp - beganMs <= SECOND_KEY_MS) {
      beganMs = Number.NEGATIVE_INFINITY;
      const found = shortcuts().find(({ letter }) => letter === event.key);
      if (found === undefined) return;
      event.preventDefault();
      go(found.href());
      return;
    }
    if (event.key === 'g') {
      beganMs = event.timeStamp;
    } else if (event.key === '?') {
      help();
    } else if (event.key === '/') {
      const search = document.querySelector<HTMLInputElement>('main input[type=search]');
      if (search === null) return;
      event.preventDefault();
      search.focus();
      search.select();
    }
  };
  document.addEventListener('keydown', pressed);
  return () => document.removeEventListener('keydown', pressed);
}
