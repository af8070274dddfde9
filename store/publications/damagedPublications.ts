// Which published files are known to be damaged: by a check, or by a download that found it out.

export interface DamagedPublications {
  readonly found: (publicationId: string) => void;
  /** It was read again and is what was published, such as after a repair. */
  readonly sound: (publicationId: string) => void;
  readonly has: (publicationId: string) => boolean;
  readonly count: () => number;
}

/** Kept in memory: a start finds them again. @param onFound once for each */
export function makeDamagedPublications(
  onFound: (publicationId: string) => void,
): DamagedPublications {
  const damaged = new Set<string>();
  return {
    found: (publicationId) => {
      if (damaged.has(publicationId)) return;
      damaged.add(publicationId);
      onFound(publicationId);
    },
    sound: (publicationId) => void damaged.delete(publicationId),
    has: (publicationId) => damaged.has(publicationId),
    count: () => damaged.size,
  };
}
