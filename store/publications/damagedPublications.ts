// Tracks published files that a check or a download found damaged.

export interface DamagedPublications {
  readonly markDamaged: (publicationId: string) => void;
  /** Clears the mark after the file was verified, such as after a repair. */
  readonly markSound: (publicationId: string) => void;
  readonly has: (publicationId: string) => boolean;
  readonly count: () => number;
}

/** Keeps the marks in memory; a restart detects them again. @param onFound is called once for each file */
export function createDamagedPublications(
  onFound: (publicationId: string) => void,
): DamagedPublications {
  const damaged = new Set<string>();
  return {
    markDamaged: (publicationId) => {
      if (damaged.has(publicationId)) return;
      damaged.add(publicationId);
      onFound(publicationId);
    },
    markSound: (publicationId) => void damaged.delete(publicationId),
    has: (publicationId) => damaged.has(publicationId),
    count: () => damaged.size,
  };
}
