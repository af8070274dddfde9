// The hash of a request's body: requests are signed with it, and repeated writes recognized by it.
import { hash } from 'node:crypto';

/** Lower-case hex SHA-256 of a whole body. */
export const hashBody = (body: string | Uint8Array): string => hash('sha256', body, 'hex');
