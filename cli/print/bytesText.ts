// Formats sizes in bytes for a person.

export const megabytes = (bytes: number, digits = 1): string =>
  `${(bytes / 1e6).toFixed(digits)} MB`;
