// The signed-in session: a token in memory, stored in the tab's session storage only on request.

export interface Session {
  readonly token: string;
  /** A publishable token only reads data; managing the account needs a secret one. */
  readonly isSecret: boolean;
}

const STORAGE_KEY = 'tapedeck-token';

let session: Session | undefined;
let operator = '';
const listeners = new Set<() => void>();

const notify = (): void => listeners.forEach((listen) => listen());

const toSession = (token: string): Session => ({ token, isSecret: token.startsWith('sk_') });

/** Restores the token stored in this tab. */
export function restoreSession(): void {
  const savedToken = sessionStorage.getItem(STORAGE_KEY);
  if (savedToken !== null) session = toSession(savedToken);
}

export const currentSession = (): Session | undefined => session;

export function signIn(token: string, remember: boolean): void {
  session = toSession(token);
  if (remember) sessionStorage.setItem(STORAGE_KEY, token);
  notify();
}

export function signOut(): void {
  session = undefined;
  operator = '';
  sessionStorage.removeItem(STORAGE_KEY);
  notify();
}

/** The operator's token for requests about the whole server; '' if none was entered. */
export const operatorToken = (): string => operator;

export function setOperatorToken(token: string): void {
  operator = token;
  notify();
}

/** Subscribes to session changes; returns the unsubscribe function. */
export function onSession(listen: () => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}
