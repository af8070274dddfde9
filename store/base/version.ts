// The program's version. A test compares it with package.json.

export const VERSION = '0.2.0';
