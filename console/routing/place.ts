// Where a person is: the path below /console, and what stands after its question mark. No token is ever
// there.
import { useEffect, useState } from 'preact/hooks';
import { clearRequests } from '../asking/requestLog.ts';

export interface Place {
  /** Parts of the path below /console, decoded. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** Grows with each move, so that a screen begins anew. */
  readonly moves: number;
}

const BASE = '/console';

let moves = 0;
const listeners = new Set<() => void>();

function placeNow(): Place {
  const parts = location.pathname
    .slice(BASE.length)
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  return { parts, query: new URLSearchParams(location.search), moves };
}

/** A stray percent sign is what it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a screen. */
export function hrefOf(
  parts: readonly string[],
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  const path = parts.map((part) => `/${encodeURIComponent(part)}`).join('');
  return `${BASE}${path}${text === '' ? '' : `?${text}`}`;
}

/** Goes to another screen. */
export function go(href: string): void {
  clearRequests();
  moves += 1;
  history.pushState(null, '', href);
  listeners.forEach((listen) => listen());
}

/** The same screen, said otherwise: nothing begins anew and the way back stays short. */
export function restate(query: Readonly<Record<string, string | number | undefined>>): void {
  const { parts } = placeNow();
  history.replaceState(null, '', hrefOf(parts, query));
  listeners.forEach((listen) => listen());
}

export function usePlace(): Place {
  const [place, setPlace] = useState(placeNow);
  useEffect(() => {
    const moved = (): void => setPlace(placeNow());
    const back = (): void => {
      clearRequests();
      moves += 1;
      moved();
    };
    listeners.add(moved);
    addEventListener('popstate', back);
    return () => {
      listeners.delete(moved);
      removeEventListener('popstate', back);
    };
  }, []);
  return place;
}

/** Links within the console move without a load of the page; all others are left alone. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const { origin, pathname, search } = new URL(link.href);
    const isOurs = origin === location.origin && `${pathname}/`.startsWith(`${BASE}/`);
    if (!isOurs || link.hasAttribute('download') || link.getAttribute('href')?.startsWith('#'))
      return;
    event.preventDefault();
    go(`${pathname}${search}`);
  });
}
