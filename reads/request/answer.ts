// What a request is answered with: plain data, which the API turns into headers and bytes.
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { PictureFormat } from '../../query/charts/drawing.ts';
import type { Body, BodyFormat } from '../../store/duckdb/protocol.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Charge } from '../../store/ledger/metering.ts';
import type { ByteRange } from './ranges.ts';

/** A published file, or a part of it. */
export interface FileAnswer {
  readonly kind: 'file';
  /** 416: the range is outside of the file. */
  readonly status: 200 | 206 | 416;
  readonly part: ByteRange;
  /** Length of the whole file. */
  readonly bytes: number;
  /** Undefined if only headers are sent. */
  readonly stream: Readable | undefined;
  readonly tag: string;
  readonly contentType: string;
  /** The name for saving: printable ASCII without quotes. */
  readonly name: string;
  readonly source: string;
  /** Must be called when the answer has ended: `whole` if its `length` bytes were handed to the network. */
  readonly onEnd: (whole: boolean, length: number) => void;
}

/** Messages without an end, until the caller disconnects. */
export interface StreamAnswer {
  readonly kind: 'stream';
  /** The id by which its caller may change the subscription. */
  readonly id: string;
  readonly datasets: readonly Dataset[];
  /** Takes over the socket, after the headers were written. */
  readonly open: (socket: Socket, isChunked: boolean) => void;
  /** Called if the stream is never opened. */
  readonly onUnopened: () => void;
}

export type Answer =
  | FileAnswer
  /** A redirect to an address of this server, below the root. */
  | {
      readonly kind: 'redirect';
      readonly location: string;
      readonly charge: Charge;
      /** The source to be credited for the target. */
      readonly source: string;
    }
  | StreamAnswer
  | {
      readonly kind: 'json';
      readonly value: unknown;
      /** `none`: without price headers. */
      readonly metering: 'free' | 'none';
      /** JSON by default. */
      readonly format?: BodyFormat | undefined;
      /** As plain text to look at, not as a file. */
      readonly plain?: boolean | undefined;
      /** JSONP function name; only with json. */
      readonly callback?: string | undefined;
    }
  /** The headers of an answer to HEAD: nothing is read, it is free and has no length. */
  | {
      readonly kind: 'unread';
      readonly format: BodyFormat;
      readonly picture?: PictureFormat | undefined;
      readonly snapshot: number;
      readonly moment: Moment;
      readonly tag: string | undefined;
      readonly datasets: readonly Dataset[];
    }
  /** The caller has cached this answer: it is free. */
  | {
      readonly kind: 'unchanged';
      readonly snapshot: number;
      readonly moment: Moment;
      readonly tag: string;
    }
  /** Text, free of charge. */
  | { readonly kind: 'text'; readonly text: string; readonly contentType: string }
  | {
      readonly kind: 'rows';
      readonly body: Body;
      readonly format: BodyFormat;
      /** The body is a chart, rendered from records in `format`. */
      readonly picture?: PictureFormat | undefined;
      /** As plain text to look at, not as a file. */
      readonly plain: boolean;
      /** JSONP function name; only with json. */
      readonly callback: string | undefined;
      readonly snapshot: number;
      /** The moment of the read: the `asOf` that returns the same answer again. */
      readonly moment: Moment;
      /** Rows after which the answer was truncated; undefined for a complete one. */
      readonly cutAt?: number | undefined;
      /** Seconds for which the caller's cache may store it. */
      readonly cacheSeconds: number | undefined;
      /** Identifies these records of this version; undefined if the next answer differs anyway. */
      readonly tag: string | undefined;
      readonly charge: Charge;
      /** The source datasets, to be credited. */
      readonly datasets: readonly Dataset[];
      /** Requested parts that the caller may not read; the rest is answered without them. */
      readonly leftOut?: readonly string[] | undefined;
    };
