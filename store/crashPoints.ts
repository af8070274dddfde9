// Named places where a crash must lose nothing. Production passes `survive`; the crash tests pass
// a function that kills the process at the named place.

type CrashPoint =
  | 'spool-written'
  | 'job-recorded'
  | 'parquet-written'
  | 'file-synced'
  | 'file-renamed'
  | 'folder-synced'
  | 'transaction-open'
  | 'transaction-committed'
  | 'change-announced'
  | 'charges-taken'
  | 'charges-committed'
  | 'pushes-written'
  | 'pushes-committed';

export type AtCrashPoint = (point: CrashPoint) => void;

export const survive: AtCrashPoint = () => undefined;
