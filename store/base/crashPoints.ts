// Named points at which a crash must lose nothing. Production passes `survive`; the crash tests pass
// a function that kills the process at the named point.

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
  | 'pushes-committed'
  | 'flush-begun'
  | 'compaction-written'
  | 'purge-written'
  | 'purge-open'
  | 'purge-committed'
  | 'purge-removed'
  | 'retention-open'
  | 'retention-committed'
  | 'export-part-made'
  | 'export-part-sent'
  | 'export-part-kept'
  | 'export-piece-sent'
  | 'export-finished'
  | 'publication-announced'
  | 'publication-placed'
  | 'publication-committed'
  | 'backup-held'
  | 'backup-copied';

export type AtCrashPoint = (point: CrashPoint) => void;

export const survive: AtCrashPoint = () => undefined;
