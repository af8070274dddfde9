// Light or dark theme: the system's preference, unless the user chooses one.

const STORAGE_KEY = 'tapedeck-theme';

const listeners = new Set<() => void>();

export function restoreTheme(): void {
  const savedTheme = localStorage.getItem(STORAGE_KEY);
  if (savedTheme === 'light' || savedTheme === 'dark')
    document.documentElement.dataset['theme'] = savedTheme;
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
  localStorage.setItem(STORAGE_KEY, next);
  listeners.forEach((listen) => listen());
}

export function onTheme(listen: () => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}

/** Resolves a palette colour in the current theme, because a canvas cannot use CSS variables. */
export function colour(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
