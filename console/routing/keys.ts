// Keyboard shortcuts: `g` and a letter opens a screen, `/` focuses the search field, `?` opens the help.

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

/** Maximum time between `g` and the letter. */
const SECOND_KEY_MS = 1_200;

/** Returns whether keys are text input for the target. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.closest(
    'input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]',
  ) !== null ||
    target.shadowRoot !== null);

export function listenToKeys({ shortcuts, go, help }: Keys): () => void {
  /** Time of the `g` key by its event timestamp, because a busy page handles key events late. */
  let prefixTimeMs = Number.NEGATIVE_INFINITY;
  const onKey = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    if (event.timeStamp - prefixTimeMs <= SECOND_KEY_MS) {
      prefixTimeMs = Number.NEGATIVE_INFINITY;
      const shortcut = shortcuts().find(({ letter }) => letter === event.key);
      if (shortcut === undefined) return;
      event.preventDefault();
      go(shortcut.href());
      return;
    }
    if (event.key === 'g') {
      prefixTimeMs = event.timeStamp;
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
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}
