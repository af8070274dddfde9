// Node's HTTP module. An import of `node:http` would also load fetch and WebSocket, which are not used:
// 45 ms of processor time for each process that starts.
export const http = process.getBuiltinModule('node:http');

/** Loads HTTPS, which takes 15 ms more, only when a process needs it. */
export const loadHttps = (): typeof import('node:https') => process.getBuiltinModule('node:https');
