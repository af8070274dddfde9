// A modal dialog: the native element, which manages focus and the Escape key.
import { type ComponentChildren, h, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export function Dialog({ children, onClose, title }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return h(
    'dialog',
    { ref: dialog, 'aria-label': title, onClose },
    h('div', { class: 'inside' }, h('h2', null, title), children),
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

/** Dialog that confirms an irreversible action. */
export const Confirm = ({ onClose, onYes, text, title, yes }: ConfirmProps): JSX.Element =>
  h(
    Dialog,
    { title, onClose },
    h('p', null, text),
    h(
      'div',
      { class: 'actions' },
      h('button', { onClick: onClose }, 'Cancel'),
      h('button', { class: 'danger', onClick: onYes }, yes),
    ),
  );
