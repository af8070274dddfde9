// A signed request, with nothing but Node 20 or newer.
//
//   BASE=http://127.0.0.1:8080 TOKEN=pk_… SECRET=… node signed_request.mjs '/v1/data/WS/PRICES?last=2'
//
// A second argument is a file: it is sent as the body of a POST.
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { BASE, TOKEN, SECRET } = process.env;
const [target, file] = process.argv.slice(2);
if (!BASE || !TOKEN || !SECRET || !target) {
  console.error('usage: BASE=… TOKEN=… SECRET=… node signed_request.mjs PATH?QUERY [FILE]');
  process.exit(2);
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const hmac = (key, text) => createHmac('sha256', key).update(text).digest('hex');

// The address, with the token added to its query.
const url = new URL(BASE.replace(/\/+$/, '') + target);
url.search = [url.search.slice(1), `token=${TOKEN}`].filter(Boolean).join('&');
const method = file === undefined ? 'GET' : 'POST';
const body = file === undefined ? '' : readFileSync(file);

// Now, as 20250314T092653Z. The server's clock may differ by five minutes.
const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
const day = date.slice(0, 8);
const scope = `${day}/svc_request`;

// 1. What is asked, in one fixed form. The path is signed as it is sent. Of the query only the
//    token is signed; `url.host` leaves out the port where it is the usual one, as fetch does.
const headers = `host:${url.host}\nx-svc-date:${date}\n`;
const request = [method, url.pathname, `token=${TOKEN}`, headers, 'host;x-svc-date', sha256(body)];

// 2. What is signed: when, for which day, and the digest of 1.
const text = ['SVC-HMAC-SHA256', date, scope, sha256(request.join('\n'))].join('\n');

// 3. A key for this day. Each key is the hex text of the step before, not its bytes.
const key = hmac(hmac(SECRET, day), 'svc_request');
const signature = hmac(key, text);

const response = await fetch(url, {
  method,
  headers: {
    'x-svc-date': date,
    authorization:
      `SVC-HMAC-SHA256 Credential=${TOKEN}/${scope}, ` +
      `SignedHeaders=host;x-svc-date, Signature=${signature}`,
    ...(file === undefined ? {} : { 'content-type': 'application/octet-stream' }),
  },
  ...(file === undefined ? {} : { body }),
  redirect: 'manual', // a signature is good for one path only
});
const answer = Buffer.from(await response.arrayBuffer());
if (response.status >= 400) {
  console.error(`${response.status} ${answer}`);
  process.exitCode = 1;
} else {
  process.stdout.write(answer);
}
