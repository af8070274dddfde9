#!/usr/bin/env bash
# A signed request with curl and openssl.
#
#   BASE=http://127.0.0.1:8080 TOKEN=pk_… SECRET=… bash signed_request.sh '/v1/data/WS/PRICES?last=2'
#
# A second argument is a file: it is sent as the body of a POST. Path and query are sent as written,
# so blanks and accents must be escaped already: %20, %C3%A9. Mind that openssl is given the secret
# on its command line, where other users of this machine can see it for a moment.
set -euo pipefail
if [ -z "${BASE:-}" ] || [ -z "${TOKEN:-}" ] || [ -z "${SECRET:-}" ] || [ -z "${1:-}" ]; then
  echo 'usage: BASE=… TOKEN=… SECRET=… bash signed_request.sh PATH?QUERY [FILE]' >&2
  exit 2
fi

# Of standard input, as hex. openssl writes a label in front of the digits.
sha256() { openssl dgst -sha256 | sed 's/^.*= *//'; }
hmac() { openssl dgst -sha256 -hmac "$1" | sed 's/^.*= *//'; }

# The address, with the token added to its query.
url=${BASE%/}${1%%#*}
case $url in
  *\?*) url="$url&token=$TOKEN" ;;
  *) url="$url?token=$TOKEN" ;;
esac
rest=${url#*://}            # host, path and query
host=${rest%%/*}
path=/${rest#*/}
path=${path%%\?*}
case $url in                # curl sends no port where it is the usual one
  http://*) host=${host%:80} ;;
  https://*) host=${host%:443} ;;
esac
method=GET
if [ -n "${2:-}" ]; then method=POST; fi

# Now, as 20250314T092653Z. The server's clock may differ by five minutes.
date=$(date -u +%Y%m%dT%H%M%SZ)
day=${date%T*}
scope=$day/svc_request

# 1. What is asked, in one fixed form. The path is signed as it is sent; of the query only the token
#    is signed. The headers end in a line end of their own, so an empty line follows them.
digest=$(sha256 < "${2:-/dev/null}")
asked=$(printf '%s\n%s\ntoken=%s\nhost:%s\nx-svc-date:%s\n\nhost;x-svc-date\n%s' \
  "$method" "$path" "$TOKEN" "$host" "$date" "$digest" | sha256)

# 2. A key for this day. Each key is the hex text of the step before, not its bytes.
key=$(printf %s "$day" | hmac "$SECRET")
key=$(printf svc_request | hmac "$key")

# 3. What is signed: when, for which day, and the digest of 1.
signature=$(printf 'SVC-HMAC-SHA256\n%s\n%s\n%s' "$date" "$scope" "$asked" | hmac "$key")

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
if [ -n "${2:-}" ]; then
  set -- -H 'Content-Type: application/octet-stream' --data-binary "@$2"
else
  set --
fi
status=$(curl -sS --globoff --path-as-is -o "$answer" -w '%{http_code}' "$@" \
  -H "Host: $host" -H "x-svc-date: $date" \
  -H "Authorization: SVC-HMAC-SHA256 Credential=$TOKEN/$scope, \
SignedHeaders=host;x-svc-date, Signature=$signature" "$url")
if [ "$status" -ge 400 ]; then
  echo "$status $(cat "$answer")" >&2
  exit 1
fi
cat "$answer"
