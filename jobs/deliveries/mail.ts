// Mail over SMTP: one message to one address.
import type { Transporter } from 'nodemailer';
import { reasonOf } from '../../store/base/failure.ts';
import { SourceFailure } from '../../pipeline/sources/base/source.ts';

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Of the message: a receiver can tell one that it has. */
  readonly id: string;
}

/** The server's answer. @throws SourceFailure saying whether it is worth another try */
export type SendMail = (mail: Mail) => Promise<string>;

const TIMEOUT_MS = 10_000;

/** @param url `smtp://user:password@host:port` */
export function openMail(url: string, from: string): SendMail {
  let opened: Promise<Transporter> | undefined;
  return async ({ id, subject, text, to }) => {
    opened ??= transportTo(url);
    const transport = await opened;
    try {
      const headers = { 'X-Alert-Id': id };
      const sent = await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        headers,
      });
      return String(sent.response);
    } catch (error) {
      const code = (error as { readonly responseCode?: number }).responseCode ?? 0;
      throw new SourceFailure(`mail was not taken: ${reasonOf(error)}`, code < 500);
    }
  };
}

async function transportTo(url: string): Promise<Transporter> {
  // With the first message: it takes each start 60 ms to load, and few servers write mail.
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
