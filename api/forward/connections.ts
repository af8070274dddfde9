// Limits of connections at every port.

/** Bytes of a request's headers; Node refuses more with 431. */
export const HEADER_BYTES_MAX = 64 * 1024;
/** Headers must be complete within this time; slower clients are disconnected. */
export const HEADERS_TIMEOUT_MS = 20_000;
/** How often connections are checked for timeouts. */
export const TIMEOUT_CHECK_MS = 5_000;
/** A request must be complete within this time: a body of 4 GB at 10 Mbit/s takes 54 minutes. */
export const REQUEST_TIMEOUT_MS = 3_600_000;
/** A connection that is idle for this long is closed. */
export const KEEP_ALIVE_MS = 72_000;
