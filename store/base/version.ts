// The program's version; package.json says the same, and a test compares them.

export const VERSION = '0.2.0';
