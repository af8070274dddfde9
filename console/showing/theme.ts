// Light or dark: what the system says, until a person says otherwise.

const KEPT = 'tapedeck-theme';

const listeners = new Set<() => void>();

export function restoreTheme(): void {
  const kept = localStorage.getItem(KEPT);
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset['theme'] = kept;
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    listeners.forEach((listen) => listen()),
  );
}

export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : theme === 'dark';
}

export function toggleTheme(): void {
  const next = isDark() ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = next;
  localStorage.setItem(KEPT, next);
  listeners.forEach((listen) => listen());
}

export function onTheme(listen: () => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}

/** A colour of the palette, as it is now: a canvas knows no variables. */
export function colour(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
