// The services that open and change streams.
import type { StreamServices } from '../../reads/streams/streamAccess.ts';
import type { Services } from '../request/endpoint.ts';

export type OpenStreamServices = StreamServices & Pick<Services, 'streams'>;
