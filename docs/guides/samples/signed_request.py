#!/usr/bin/env python3
"""A signed request, with nothing but Python 3's standard library.

  BASE=http://127.0.0.1:8080 TOKEN=pk_… SECRET=… python3 signed_request.py '/v1/data/WS/PRICES?last=2'

A second argument is a file: it is sent as the body of a POST.
"""
import hashlib
import hmac
import http.client
import os
import sys
from datetime import datetime, timezone
from urllib.parse import quote, urlsplit

base, token, secret = (os.environ.get(name, "") for name in ("BASE", "TOKEN", "SECRET"))
if "" in (base, token, secret) or len(sys.argv) not in (2, 3):
    sys.exit("usage: BASE=… TOKEN=… SECRET=… python3 signed_request.py PATH?QUERY [FILE]")
target, file = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def sign(key, text):
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


# The address. What may not stand in one, such as blanks and accents, is escaped.
url = urlsplit(base.rstrip("/") + target)
allowed = "/%:@!$&'()*+,;=?~"
path, query = quote(url.path, allowed), quote(url.query, allowed)
usual = {"http": 80, "https": 443}[url.scheme]
host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
if url.port not in (None, usual):
    host += f":{url.port}"
method, body = "GET", b""
if file is not None:
    with open(file, "rb") as opened:
        method, body = "POST", opened.read()

# Now, as 20250314T092653Z. The server's clock may differ by five minutes.
date = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
day = date[:8]
scope = f"{day}/svc_request"

# 1. What is asked, in one fixed form. The path is signed as it is sent; of the query only the
#    token is signed.
headers = f"host:{host}\nx-svc-date:{date}\n"
request = "\n".join([method, path, f"token={token}", headers, "host;x-svc-date", sha256(body)])

# 2. What is signed: when, for which day, and the digest of 1.
text = "\n".join(["SVC-HMAC-SHA256", date, scope, sha256(request.encode())])

# 3. A key for this day. Each key is the hex text of the step before, not its bytes.
key = sign(sign(secret, day), "svc_request")
signature = sign(key, text)

send = {
    "Host": host,
    "x-svc-date": date,
    "Authorization": f"SVC-HMAC-SHA256 Credential={token}/{scope}, "
    f"SignedHeaders=host;x-svc-date, Signature={signature}",
}
if file is not None:
    send["Content-Type"] = "application/octet-stream"
kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
connection = kinds[url.scheme](url.hostname, url.port or usual)
connection.request(method, f"{path}?{query + '&' if query else ''}token={token}", body or None, send)
response = connection.getresponse()
answer = response.read()
connection.close()
if response.status >= 400:
    sys.exit(f"{response.status} {answer.decode(errors='replace')}")
sys.stdout.buffer.write(answer)
