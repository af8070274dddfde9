// What a port takes of a connection, whoever answers behind it.

/** Headers of a request; Node refuses more with 431. */
export const HEADER_BYTES_MAX = 64 * 1024;
/** Headers must be complete after this long; slower clients are cut off. */
export const HEADERS_TIMEOUT_MS = 20_000;
/** How often it is looked who is late. */
export const LATE_LOOK_MS = 5_000;
/** A request must have come whole after this long: a body of 4 GB at 10 Mbit/s takes 54 minutes. */
export const REQUEST_TIMEOUT_MS = 3_600_000;
/** A connection on which nothing is asked for so long is closed. */
export const KEEP_ALIVE_MS = 72_000;
