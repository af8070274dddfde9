// Sends mail over SMTP: one message to one address.
import type { Transporter } from 'nodemailer';
import { reasonOf } from '../../store/base/failure.ts';
import { SourceFailure } from '../../pipeline/sources/base/source.ts';

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Id of the message: a receiver can recognize duplicates. */
  readonly id: string;
}

/** Returns the server's answer. @throws SourceFailure with whether a retry may succeed */
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
  // Loaded with the first message: loading takes 60 ms, and few servers send mail.
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
