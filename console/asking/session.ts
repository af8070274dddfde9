// Who is signed in: a token in memory, and in the storage of this tab only where that was asked for.

export interface Session {
  readonly token: string;
  /** A publishable token reads data; what is set up, paid and run needs a secret one. */
  readonly isSecret: boolean;
}

const KEPT = 'tapedeck-token';

let session: Session | undefined;
let operator = '';
const listeners = new Set<() => void>();

const tell = (): void => listeners.forEach((listen) => listen());

const sessionOf = (token: string): Session => ({ token, isSecret: token.startsWith('sk_') });

/** What this tab was asked to remember. */
export function restoreSession(): void {
  const kept = sessionStorage.getItem(KEPT);
  if (kept !== null) session = sessionOf(kept);
}

export const currentSession = (): Session | undefined => session;

export function signIn(token: string, remember: boolean): void {
  session = sessionOf(token);
  if (remember) sessionStorage.setItem(KEPT, token);
  tell();
}

export function signOut(): void {
  session = undefined;
  operator = '';
  sessionStorage.removeItem(KEPT);
  tell();
}

/** The operator's own token, for what concerns the whole server; '' where none was given. */
export const operatorToken = (): string => operator;

export function setOperatorToken(token: string): void {
  operator = token;
  tell();
}

/** Tells changes until it is called. */
export function onSession(listen: () => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}
