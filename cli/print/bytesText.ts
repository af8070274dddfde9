// Bytes as a person reads them.

export const megabytes = (bytes: number, digits = 1): string =>
  `${(bytes / 1e6).toFixed(digits)} MB`;
