// Node's HTTP as it is. Imported as a module of its own it would load what fetch and WebSocket are made of,
// for names that nobody asks for: 45 ms of processor time for each process that starts.
export const http = process.getBuiltinModule('node:http');

/** With TLS, which takes 15 ms more: of a process that may never need it. */
export const loadHttps = (): typeof import('node:https') => process.getBuiltinModule('node:https');
