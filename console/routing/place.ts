// The current address: the path below /console and the query. It never contains a token.
import { useEffect, useState } from 'preact/hooks';
import { clearRequests } from '../api/requestLog.ts';

export interface Place {
  /** Decoded segments of the path below /console. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** Incremented by each navigation, so that the screen is mounted again. */
  readonly moves: number;
}

const BASE = '/console';

let moves = 0;
const listeners = new Set<() => void>();

function readPlace(): Place {
  const parts = location.pathname
    .slice(BASE.length)
    .split('/')
    .filter((part) => part !== '')
    .map(decodePart);
  return { parts, query: new URLSearchParams(location.search), moves };
}

/** Returns a segment with an invalid escape unchanged. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Builds the address of a screen. */
export function screenHref(
  parts: readonly string[],
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const parameters = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  const text = new URLSearchParams(
    parameters.map(([name, value]) => [name, String(value)]),
  ).toString();
  const path = parts.map((part) => `/${encodeURIComponent(part)}`).join('');
  return `${BASE}${path}${text === '' ? '' : `?${text}`}`;
}

/** Navigates to another screen. */
export function go(href: string): void {
  clearRequests();
  moves += 1;
  history.pushState(null, '', href);
  listeners.forEach((listen) => listen());
}

/** Replaces the query of the address without a history entry and without mounting the screen again. */
export function replaceQuery(query: Readonly<Record<string, string | number | undefined>>): void {
  const { parts } = readPlace();
  history.replaceState(null, '', screenHref(parts, query));
  listeners.forEach((listen) => listen());
}

export function usePlace(): Place {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const update = (): void => setPlace(readPlace());
    const onPopState = (): void => {
      clearRequests();
      moves += 1;
      update();
    };
    listeners.add(update);
    addEventListener('popstate', onPopState);
    return () => {
      listeners.delete(update);
      removeEventListener('popstate', onPopState);
    };
  }, []);
  return place;
}

/** Handles clicks on links within the console without a page load; other links work as usual. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const { origin, pathname, search } = new URL(link.href);
    const isInternal = origin === location.origin && `${pathname}/`.startsWith(`${BASE}/`);
    if (!isInternal || link.hasAttribute('download') || link.getAttribute('href')?.startsWith('#'))
      return;
    event.preventDefault();
    go(`${pathname}${search}`);
  });
}
