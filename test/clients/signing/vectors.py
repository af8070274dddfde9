#!/usr/bin/env python3
"""Writes vectors.json: signed requests, and what the server has to say about each.

Nothing here is shared with the server: signatures come from Python's hmac and hashlib, and every
canonical query of the full form stands below as a literal which the sorting here must reproduce.

    python3 vectors.py             writes vectors.json beside this file
    python3 vectors.py --openssl   also computes every right signature with the openssl command

A case is the request as sent, the token and secret the server knows, its clock, and the verdict.
Five functions make cases, and each proves what it claims before the case is kept:

    valid        the signature is right, and so is everything else
    restricted   the signature is right; the clock, the scope's day or the named token is not
    required     the date or the Authorization header is missing, or of another scheme
    malformed    the client signed rightly, but one of the two headers is written wrongly
    wrong        the signature is well written, but it is not that of this request

The client signs in the token-only form of the query unless a case says `full`.
"""
import base64
import calendar
import hashlib
import hmac
import json
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

T = "pk_5f2c0d9e7a814b36b1d4c8e90f3a6127"
SK = "sk_a90b6d13f7e2485c8a61d0c35be47f92"
OTHER = "pk_00c1e7d2a35f4986bd70f1284c6e9ab3"
SECRET = "3e8f1c70b5d94a26a7e05d1fc283946b"
OTHER_SECRET = "90d2b7e4415c4f3a8c6e1b7fa0d53e28"
DATE = "20250314T092653Z"

AUTHORIZATION = "{algorithm} Credential={token}/{scope}, SignedHeaders={headers}, Signature={signature}"


# ---- Signing ---------------------------------------------------------------------------------

@dataclass(frozen=True)
class Parts:
    """What goes into a signature."""
    brand: str
    method: str
    path: str
    query: str  # in canonical form
    host: str
    date: str
    digest: str  # of the body
    day: str  # of the scope
    terminator: str
    secret: str

    @property
    def algorithm(self):
        return f"{self.brand.upper()}-HMAC-SHA256"

    @property
    def date_name(self):
        return f"x-{self.brand}-date"

    @property
    def headers(self):
        return f"host;{self.date_name}"

    @property
    def scope(self):
        return f"{self.day}/{self.terminator}"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def hmac_hex(key, text):
    key = key if isinstance(key, bytes) else key.encode()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def canonical_request(p):
    headers = f"host:{p.host}\n{p.date_name}:{p.date}\n"
    return "\n".join([p.method, p.path, p.query, headers, p.headers, p.digest])


def string_to_sign(p, request):
    return "\n".join([p.algorithm, p.date, p.scope, sha256(request)])


def signing_key(p):
    return hmac_hex(hmac_hex(p.secret, p.day), p.terminator)


def signature_of(p, canonical=canonical_request, to_sign=string_to_sign, key=signing_key):
    return hmac_hex(key(p), to_sign(p, canonical(p)))


def full_query(raw):
    """The second canonical form: every pair of the real query, encoded one way, sorted."""
    pairs = []
    for piece in raw.split("&"):
        if piece != "":
            name, _, value = piece.partition("=")
            pairs.append((encoded(name), encoded(value)))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def encoded(text):
    return quote(unquote_to_bytes(text.replace("+", " ")), safe="")


def openssl_signature(p):
    """The same signature by another program."""
    def run(text, *words):
        command = ["openssl", "dgst", "-sha256", *words]
        answer = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
        return answer.stdout.decode().split()[-1]

    k1 = run(p.day, "-hmac", p.secret)
    key = run(p.terminator, "-hmac", k1)
    lines = [p.algorithm, p.date, p.scope, run(canonical_request(p))]
    return run("\n".join(lines), "-hmac", key)


# ---- Cases -----------------------------------------------------------------------------------

CASES = []
OPENSSL = "--openssl" in sys.argv[1:]
REQUEST = {
    "method": "GET", "path": "/v1/time-series/STOCKS/MSFT", "query": f"token={T}",
    "host": "api.example.com", "date": DATE, "body": "", "token": T, "secret": SECRET,
    "brand": "svc",
}


def at(date, ms=0):
    """Milliseconds since 1970 of a header's date; hours and days beyond the end roll over."""
    fields = (date[0:4], date[4:6], date[6:8], date[9:11], date[11:13], date[13:15])
    return calendar.timegm(tuple(int(field) for field in fields)) * 1000 + ms


def case(kind, name, *, full=None, signed=None, header=None, layout=AUTHORIZATION, nowMs=None,
         canonical=canonical_request, to_sign=string_to_sign, key=signing_key, **sent):
    """`full` is the canonical query in the full form; without it the token-only form is signed.
    `signed` is what the client signed differently from what it sent, `header` what it then wrote
    into the Authorization header instead (a function changes what would stand there)."""
    request = {**REQUEST, **sent}
    if full is not None:
        assert full == full_query(request["query"]), f"{name}: {full_query(request['query'])}"
    date = (request["date"] or "").strip() or DATE
    token_only = f"token={request['token']}"
    right = Parts(
        brand=request["brand"], method=request["method"], path=request["path"],
        query=token_only if full is None else full, host=request["host"].strip(), date=date,
        digest=sha256(request["body"]), day=date[:8], terminator=f"{request['brand']}_request",
        secret=request["secret"])
    parts = replace(right, **(signed or {}))
    fields = {
        "algorithm": parts.algorithm, "token": request["token"], "scope": parts.scope,
        "headers": parts.headers, "signature": signature_of(parts, canonical, to_sign, key)}
    computed = fields["signature"]
    for field, change in (header or {}).items():
        fields[field] = change(fields[field]) if callable(change) else change

    in_scope = replace(right, day=fields["scope"].partition("/")[0])
    accepted = {signature_of(replace(in_scope, query=query))
                for query in (token_only, full_query(request["query"]))}
    if kind == "wrong":
        assert fields["signature"] not in accepted, f"{name}: the signature is right"
        assert re.fullmatch("[0-9a-f]{64}", fields["signature"]) and layout == AUTHORIZATION, name
    elif kind in ("valid", "restricted"):
        assert fields["signature"] in accepted, f"{name}: the signature is not right"
        if OPENSSL:
            assert fields["signature"] == openssl_signature(parts), f"{name}: openssl differs"
    elif kind == "malformed":
        assert computed in {signature_of(right), signature_of(in_scope)}, f"{name}: not signed rightly"

    expect = kind if kind == "valid" else "Authorization" + {
        "required": "Required", "restricted": "Restricted"}.get(kind, "Invalid")
    CASES.append({
        "name": name, "method": request["method"], "path": request["path"],
        "query": request["query"], "host": request["host"], "date": request["date"],
        "authorization": None if layout is None else layout.format(**fields),
        "body": request["body"], "token": request["token"], "secret": request["secret"],
        "nowMs": at(date, 1234) if nowMs is None else nowMs, "brand": request["brand"],
        "expect": expect})


def valid(name, **given):
    case("valid", name, **given)


def restricted(name, **given):
    case("restricted", name, **given)


def required(name, **given):
    case("required", name, **given)


def malformed(name, **given):
    case("malformed", name, **given)


def wrong(name, **given):
    case("wrong", name, **given)


def token_only_queries():
    valid("the token is the whole query")
    valid("token-only form before other parameters", query=f"token={T}&last=2&format=csv")
    valid("token-only form after other parameters", query=f"to=2020-12-31&from=2020-01-01&token={T}")
    valid("token-only form between other parameters", query=f"last=2&token={T}&format=json")
    valid("token-only form over empty pieces", query=f"&&token={T}&")
    valid("token-only form over escapes that stand for no character", query=f"q=100%&r=%zz&token={T}")
    valid("token-only form over an escaped token", query=f"last=1&token=%70k%5F{T[3:]}")
    valid("token-only form over an emoji", query=f"q=%F0%9F%93%88&token={T}")
    valid("token-only form of a test token", query=f"token=T{T}", token=f"T{T}")
    valid("known weakness: token-only form does not notice that last=2 became last=9999",
          query=f"last=9999&token={T}")


def full_queries():
    t = f"token={T}"
    table = [
        ("parameters already in order", f"format=csv&last=2&{t}", f"format=csv&last=2&{t}"),
        ("parameters sent in another order", f"{t}&last=2&format=csv", f"format=csv&last=2&{t}"),
        ("the token in the middle", f"zone=UTC&{t}&from=2020-01-01", f"from=2020-01-01&{t}&zone=UTC"),
        ("upper case comes before lower case", f"b=1&a=2&B=3&A=4&{t}", f"A=4&B=3&a=2&b=1&{t}"),
        ("digits, letters and marks in byte order", f"~=1&z=2&_=3&Z=4&9=5&.=6&-=7&{t}",
         f"-=7&.=6&9=5&Z=4&_=3&{t}&z=2&~=1"),
        ("numbers as names are sorted as text", f"9=a&10=b&1=c&{t}", f"1=c&10=b&9=a&{t}"),
        ("a name before the longer names it begins", f"aa=1&a-b=2&a=3&a.b=4&{t}",
         f"a=3&a-b=2&a.b=4&aa=1&{t}"),
        ("an escaped name before plain letters", f"a=1&A=2&%C3%A9=3&{t}", f"%C3%A9=3&A=2&a=1&{t}"),
        ("an emoji after a wide tilde, as their bytes are", f"%F0%9F%98%80=1&%EF%BD%9E=2&{t}",
         f"%EF%BD%9E=2&%F0%9F%98%80=1&{t}"),
        ("names which objects inherit", f"__proto__=1&constructor=2&hasOwnProperty=3&{t}",
         f"__proto__=1&constructor=2&hasOwnProperty=3&{t}"),
        ("a repeated name, sorted by value", f"tag=b&tag=a&tag=B&{t}", f"tag=B&tag=a&tag=b&{t}"),
        ("a pair that stands there twice", f"tag=a&{t}&tag=a", f"tag=a&tag=a&{t}"),
        ("repeated values sorted by their escapes", f"c=a-b&c=a%20b&c=a~b&c=a&{t}",
         f"c=a&c=a%20b&c=a-b&c=a~b&{t}"),
        ("numbers as values are sorted as text", f"n=10&n=9&n=-1&{t}", f"n=-1&n=10&n=9&{t}"),
        ("an empty value", f"subkey=&{t}", f"subkey=&{t}"),
        ("a name without a value", f"{t}&pretty", f"pretty=&{t}"),
        ("a name with, without and with an empty value", f"f=1&f&f=&{t}", f"f=&f=&f=1&{t}"),
        ("empty pieces are dropped", f"&&b=1&&a=2&{t}&", f"a=2&b=1&{t}"),
        ("a value without a name", f"a=1&=x&{t}", f"=x&a=1&{t}"),
        ("a piece that is only an equals sign", f"a=1&=&{t}", f"=&a=1&{t}"),
        ("equals signs within a value", f"filter=a=b==&{t}", f"filter=a%3Db%3D%3D&{t}"),
        ("plus, escaped plus and escaped blank", f"a=x+y&b=x%2By&c=x%20y&{t}",
         f"a=x%20y&b=x%2By&c=x%20y&{t}"),
        ("plus in a name", f"full+name=x&full=y&{t}", f"full=y&full%20name=x&{t}"),
        ("an escaped ampersand and equals sign", f"a%26b%3Dc=d%26e%3Df&{t}", f"a%26b%3Dc=d%26e%3Df&{t}"),
        ("reserved characters sent plainly", f"q=:/?@[]$,;!*'()&{t}",
         f"q=%3A%2F%3F%40%5B%5D%24%2C%3B%21%2A%27%28%29&{t}"),
        ("unreserved characters sent escaped", f"q=%41%7a%30%2D%5f%2E%7e&{t}", f"q=Az0-_.~&{t}"),
        ("escapes in lower case", f"q=%c3%a9%2f&{t}", f"q=%C3%A9%2F&{t}"),
        ("an escaped escape is opened once", f"q=%2541%252B&{t}", f"q=%2541%252B&{t}"),
        ("a list with commas", f"symbols=MSFT,AAPL&types=quote%2Cnews&{t}",
         f"symbols=MSFT%2CAAPL&{t}&types=quote%2Cnews"),
        ("a semicolon separates nothing", f"b=1;a=2&{t}", f"b=1%3Ba%3D2&{t}"),
        ("Japanese text", f"city=%E6%9D%B1%E4%BA%AC&{t}", f"city=%E6%9D%B1%E4%BA%AC&{t}"),
        ("an emoji made of several", f"q=%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB&{t}",
         f"q=%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB&{t}"),
        ("an accent apart from its letter stays apart", f"q=e%CC%81&{t}", f"q=e%CC%81&{t}"),
        ("a byte order mark in front of a value", f"q=%EF%BB%BFx&{t}", f"q=%EF%BB%BFx&{t}"),
        ("line ends and a zero byte", f"q=a%0D%0Ab%00&{t}", f"q=a%0D%0Ab%00&{t}"),
        ("an escaped token", f"last=1&token=%70k%5F{T[3:]}", f"last=1&{t}"),
    ]
    for name, query, full in table:
        valid(f"full form: {name}", query=query, full=full)


def paths_and_methods():
    for name, path in [
        ("a blank in the path", "/v1/data/WS/A%20B"),
        ("escapes of the path in lower case", "/v1/data/WS/caf%c3%a9"),
        ("an escaped slash in the path", "/v1/data/WS/A%2FB"),
        ("an emoji in the path", "/v1/data/WS/PRICES/%F0%9F%93%88"),
        ("unreserved characters escaped in the path", "/v1/data/WS/%41%7E"),
        ("an escaped percent sign in the path", "/v1/data/WS/100%25"),
        ("marks in the path", "/v1/data/WS/BRK.B:x@y!$'()*,;=+"),
        ("a slash that ends the path", "/v1/data/WS/PRICES/"),
        ("two slashes in the path", "/v1//data/WS/PRICES"),
        ("dots in the path", "/v1/data/./WS/../WS/PRICES"),
        ("another word for the version", "/stable/stock/aapl/quote"),
    ]:
        valid(f"{name} as sent", path=path)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        valid(f"{method} without a body", method=method, path="/v1/datasets/WS/PRICES")
    in_query = {"path": "/v1/datasets/WS/PRICES", "token": SK}
    valid("PUT with a body, token-only form", method="PUT", query=f"token={SK}",
          body='{"name":"PRICES"}', **in_query)
    valid("PATCH with a body, full form", method="PATCH", query=f"token={SK}&dryRun=true",
          full=f"dryRun=true&token={SK}", body='{"label":"Prices"}', **in_query)
    valid("DELETE with a body", method="DELETE", query=f"token={SK}", body="{}", **in_query)


def bodies():
    post = {"method": "POST", "path": "/v1/account/signed", "query": "", "token": SK}
    body = json.dumps({"token": SK, "tokenToSign": T})
    valid("the token is in the body, token-only form", body=body, **post)
    valid("the token is in the body, full form of no query", body=body, full="", **post)
    valid("the token is in the body, full form of other parameters", body=body,
          full="a=1&b=2", **{**post, "query": "b=2&a=1"})
    valid("the token is in the body, full form of empty pieces", body=body, full="",
          **{**post, "query": "&&"})
    load = {"method": "POST", "path": "/v1/data/WS/PRICES", "query": f"token={SK}", "token": SK}
    for name, text in [
        ("of Unicode text", '{"name":"Zürich 東京","mark":"📈"}'),
        ("with an accent apart from its letter", '{"name":"e\u0301"}'),
        ("with escapes that stay escapes", '{"name":"\\u00e9"}'),
        ("with blanks and line ends around JSON", ' {\r\n  "a" : 1\r\n}\n'),
        ("of CSV", "symbol,price\r\nAAPL,1.50\r\n"),
        ("of one line end", "\n"),
        ("that begins with a byte order mark", '\ufeff[{"a":1}]'),
        ("with a zero byte", "a\x00b"),
        ("that is no JSON", "[object Object]"),
    ]:
        valid(f"a body {name}", body=text, **load)
    valid("a body of many lines, full form", body="1234567,é\n" * 200, full=f"token={SK}&wait=true",
          **{**load, "query": f"wait=true&token={SK}"})


def hosts_and_blanks():
    for name, host in [
        ("a host with a port", "127.0.0.1:8080"), ("a host of one word", "localhost:8080"),
        ("an IPv6 host", "[2001:db8::1]"), ("an IPv6 host with a port", "[::1]:8080"),
        ("a host in upper case as sent", "API.Example.COM"),
        ("a host with a port nobody had to write", "api.example.com:443"),
        ("a host that ends in a dot", "api.example.com."),
        ("a host in Punycode", "xn--brse-5qa.example"),
    ]:
        valid(name, host=host)
    valid("blanks around the host are no part of it", host="  api.example.com ")
    valid("blanks around the date are no part of it", date=f"  {DATE}   ")
    valid("tabs around host and date are no part of them", host="\tapi.example.com\t", date=f"\t{DATE}")
    valid("blanks around the authorization", layout=f"  {AUTHORIZATION}  ")
    valid("more blanks after the commas of the authorization",
          layout=AUTHORIZATION.replace(", ", ",    "))
    valid("a secret longer than a block of the hash", secret=SECRET * 3)
    valid("a secret with marks in it", secret="a/b+c=d e\"f'g\\h%20")
    wrong("the blanks around the date were signed", date=f" {DATE} ", signed={"date": f" {DATE} "})
    wrong("the blanks around the host were signed", host=" api.example.com",
          signed={"host": " api.example.com"})


def clocks():
    for name, ms in [("on the second", 0), ("299.999 s late", 299_999), ("300 s late", 300_000),
                     ("299.999 s early", -299_999), ("300 s early", -300_000),
                     ("1 ms late", 1), ("1 ms early", -1)]:
        valid(f"a request {name}", nowMs=at(DATE, ms))
    for name, ms in [("300.001 s late", 300_001), ("300.001 s early", -300_001),
                     ("301 s late", 301_000), ("301 s early", -301_000),
                     ("an hour late", 3_600_000), ("an hour early", -3_600_000),
                     ("a day late", 86_400_000), ("a day early", -86_400_000),
                     ("a year late", 365 * 86_400_000), ("a year early", -365 * 86_400_000)]:
        restricted(f"a request {name}", nowMs=at(DATE, ms))
    restricted("a request 26 years late", date="19990314T092653Z", nowMs=at(DATE))
    restricted("a request of the year 9999", date="99991231T235959Z", nowMs=at(DATE))
    restricted("a late request in the full form", query=f"token={T}&last=2", full=f"last=2&token={T}",
               nowMs=at(DATE, 300_001))
    restricted("a late request with a body", method="POST", body="[1]", nowMs=at(DATE, 600_000))

    eve, new_year = "20241231T235959Z", "20250101T000000Z"
    for name, date, now in [
        ("midnight passes on the way", "20250630T235959Z", "20250701T000002Z"),
        ("the server's clock is still on the day before", "20250701T000001Z", "20250630T235958Z"),
        ("the year ends on the way", eve, "20250101T000001Z"),
        ("the server's clock is still in the old year", new_year, "20241231T235730Z"),
        ("on a leap day", "20240229T120000Z", "20240229T120001Z"),
        ("a leap day ends on the way", "20240229T235900Z", "20240301T000100Z"),
        ("the leap day of a century", "20000229T000000Z", "20000229T000000Z"),
        ("after the 31st bit of seconds", "20380119T031408Z", "20380119T031409Z"),
    ]:
        valid(name, date=date, nowMs=at(now, 250))
    valid("the year ends on the way, 300 s", date=eve, nowMs=at("20250101T000459Z"))
    restricted("the year ends on the way, 300.001 s", date=eve, nowMs=at("20250101T000459Z", 1))


def other_days_and_tokens():
    for name, date, day, now in [
        ("the scope names the day before", DATE, "20250313", DATE),
        ("the scope names the day after", DATE, "20250315", DATE),
        ("the scope names the server's day, the date the day before",
         "20250630T235959Z", "20250701", "20250701T000002Z"),
        ("the scope names the client's yesterday, the date is today",
         "20250701T000001Z", "20250630", "20250701T000002Z"),
        ("the scope names the same day of the year before", DATE, "20240314", DATE),
        ("the scope names eight digits that are no day", DATE, "20250399", DATE),
    ]:
        restricted(name, date=date, signed={"day": day}, nowMs=at(now))
    restricted("the credential names another token", header={"token": OTHER})
    restricted("the credential names another token, full form", header={"token": OTHER},
               query=f"token={T}&last=2", full=f"last=2&token={T}")
    restricted("the credential names the account's secret token", header={"token": SK})
    restricted("the credential names the token in upper case", header={"token": T.upper()})
    restricted("the credential names the beginning of the token", header={"token": T[:-1]})
    restricted("another token, and late", header={"token": OTHER}, nowMs=at(DATE, 300_001))
    restricted("another token, another day, and late", header={"token": OTHER},
               signed={"day": "20250313"}, nowMs=at(DATE, 900_000))


def missing_headers():
    required("no date header", date=None)
    required("an empty date header", date="")
    required("a date header of blanks", date="   ")
    required("no authorization header", layout=None)
    required("an empty authorization header", layout="")
    required("an authorization header of blanks", layout="  ")
    required("neither of the two headers", date=None, layout=None)
    required("both headers empty", date="", layout="")
    required("the token as bearer", layout="Bearer {token}")
    required("the token as bearer in lower case", layout="bearer {token}")
    required("name and password", layout="Basic " + base64.b64encode(b"user:password").decode())
    required("a bearer token and an old date", layout="Bearer {token}", nowMs=at(DATE, 900_000))
    required("a bearer token and no date", layout="Bearer {token}", date=None)
    required("no authorization header and an old date", layout=None, nowMs=at(DATE, 900_000))
    required("no date header and a wrong signature", date=None, signed={"secret": OTHER_SECRET})


def malformed_authorization():
    for name, layout in [
        ("the credential is missing", "{algorithm} SignedHeaders={headers}, Signature={signature}"),
        ("the signed headers are missing",
         "{algorithm} Credential={token}/{scope}, Signature={signature}"),
        ("the signature is missing", "{algorithm} Credential={token}/{scope}, SignedHeaders={headers}"),
        ("the algorithm stands alone", "{algorithm}"),
        ("only the signature after the algorithm", "{algorithm} {signature}"),
        ("the credential has no token",
         "{algorithm} Credential={scope}, SignedHeaders={headers}, Signature={signature}"),
        ("the credential has no scope",
         "{algorithm} Credential={token}, SignedHeaders={headers}, Signature={signature}"),
        ("another word for the credential", AUTHORIZATION.replace("Credential", "Credentials")),
        ("semicolons between the parts", AUTHORIZATION.replace(", ", "; ")),
        ("a part too many", AUTHORIZATION + ", Extra=1"),
    ]:
        malformed(name, layout=layout)
    for algorithm in ("SVC-HMAC-SHA1", "SVC-HMAC-SHA512", "SVC-HMAC-SHA25"):
        malformed(f"the algorithm {algorithm}", header={"algorithm": algorithm})
    for headers in ("x-svc-date;host", "host", "x-svc-date", "host;x-svc-date;content-type",
                    "host;x-iex-date", "Host;X-Svc-Date", "host;x-svc-date;", "host,x-svc-date", ""):
        malformed(f"the signed headers {headers or 'left empty'}", header={"headers": headers})
    for name, change in [
        ("of 63 digits", lambda digits: digits[:-1]), ("of 65 digits", lambda digits: digits + "0"),
        ("of no digits", lambda digits: ""), ("in upper case", lambda digits: digits.upper()),
        ("of 64 characters, one no digit", lambda digits: "g" + digits[1:]),
        ("after 0x", lambda digits: "0x" + digits), ("in quotes", lambda digits: f'"{digits}"'),
        ("in base64", lambda digits: base64.b64encode(bytes.fromhex(digits)).decode()),
    ]:
        malformed(f"a signature {name}", header={"signature": change})
    for name, scope in [
        ("of a day alone", "20250314"), ("of seven digits", "2025031/svc_request"),
        ("of nine digits", "202503140/svc_request"), ("of a day with dashes", "2025-03-14/svc_request"),
        ("of the whole date", f"{DATE}/svc_request"), ("of letters", "today123/svc_request"),
        ("that ends in another word", "20250314/aws4_request"),
        ("that ends in upper case", "20250314/SVC_REQUEST"),
        ("that ends in a slash", "20250314/svc_request/"),
        ("with a region", "20250314/us-east-1/svc_request"), ("without a day", "/svc_request"),
    ]:
        malformed(f"a scope {name}", header={"scope": scope})


def malformed_dates():
    for name, date, meant in [
        ("month 13", "20241301T120000Z", "20250101T120000Z"),
        ("month 0", "20250001T120000Z", "20241201T120000Z"),
        ("day 0", "20250300T120000Z", "20250228T120000Z"),
        ("day 32", "20250132T120000Z", "20250201T120000Z"),
        ("30 February", "20250230T120000Z", "20250302T120000Z"),
        ("31 April", "20250431T120000Z", "20250501T120000Z"),
        ("29 February of a common year", "20230229T120000Z", "20230301T120000Z"),
        ("29 February 2100, no leap year", "21000229T120000Z", "21000301T120000Z"),
        ("hour 24", "20250314T240000Z", "20250315T000000Z"),
        ("hour 25", "20250314T250000Z", "20250315T010000Z"),
        ("minute 60", "20250314T126000Z", "20250314T130000Z"),
        ("second 60", "20250314T120060Z", "20250314T120100Z"),
        ("no zone", "20250314T092653", DATE), ("lower-case letters", "20250314t092653z", DATE),
        ("a zone in numbers", "20250314T092653+0000", DATE),
        ("dashes and colons", "2025-03-14T09:26:53Z", DATE),
        ("milliseconds", "20250314T092653.000Z", DATE), ("no seconds", "20250314T0926Z", DATE),
        ("the day alone", "20250314", DATE), ("a year of two digits", "250314T092653Z", DATE),
        ("a blank for the T", "20250314 092653Z", DATE), ("a sign", "+20250314T092653Z", DATE),
        ("seconds since 1970", str(at(DATE) // 1000), DATE),
        ("the form of mails", "Fri, 14 Mar 2025 09:26:53 GMT", DATE), ("a word", "now", DATE),
    ]:
        day = date[:8] if date[:8].isdigit() else meant[:8]
        malformed(f"a date with {name}", date=date, header={"scope": f"{day}/svc_request"},
                  nowMs=at(meant))


def wrong_requests():
    for name, given, signed in [
        ("the secret of another token", {}, {"secret": OTHER_SECRET}),
        ("the token as secret", {}, {"secret": T}),
        ("an empty secret", {}, {"secret": ""}),
        ("the secret in upper case", {}, {"secret": SECRET.upper()}),
        ("signed as GET, sent as POST", {"method": "POST"}, {"method": "GET"}),
        ("signed as PUT, sent as DELETE", {"method": "DELETE"}, {"method": "PUT"}),
        ("the method in lower case", {}, {"method": "get"}),
        ("signed for another path", {}, {"path": "/v1/time-series/STOCKS/AAPL"}),
        ("the path without its version", {}, {"path": "/time-series/STOCKS/MSFT"}),
        ("the path without its first slash", {}, {"path": "v1/time-series/STOCKS/MSFT"}),
        ("the path with a slash at its end", {}, {"path": "/v1/time-series/STOCKS/MSFT/"}),
        ("the path in lower case", {}, {"path": "/v1/time-series/stocks/msft"}),
        ("the path with its query", {}, {"path": f"/v1/time-series/STOCKS/MSFT?token={T}"}),
        ("the whole address for the path", {},
         {"path": "https://api.example.com/v1/time-series/STOCKS/MSFT"}),
        ("the path decoded", {"path": "/v1/data/WS/A%20B"}, {"path": "/v1/data/WS/A B"}),
        ("the path escaped twice", {"path": "/v1/data/WS/A%20B"}, {"path": "/v1/data/WS/A%2520B"}),
        ("the path's escapes in upper case", {"path": "/v1/data/WS/%c3%a9"},
         {"path": "/v1/data/WS/%C3%A9"}),
        ("the path without its double slash", {"path": "/v1//data/WS/PRICES"},
         {"path": "/v1/data/WS/PRICES"}),
        ("the path without its dots", {"path": "/v1/x/../data/WS/PRICES"},
         {"path": "/v1/data/WS/PRICES"}),
        ("signed for another host", {}, {"host": "api.example.net"}),
        ("the host without its port", {"host": "127.0.0.1:8080"}, {"host": "127.0.0.1"}),
        ("the host with a port it was not sent with", {}, {"host": "api.example.com:443"}),
        ("the host in lower case, sent in upper case", {"host": "API.EXAMPLE.COM"},
         {"host": "api.example.com"}),
        ("an IPv6 host without its brackets", {"host": "[::1]:8080"}, {"host": "::1:8080"}),
        ("the host with its scheme", {}, {"host": "https://api.example.com"}),
        ("the date one second later than signed", {"date": "20250314T092654Z"}, {"date": DATE}),
        ("another body than signed", {"method": "POST", "body": '{"price":2}'},
         {"digest": sha256('{"price":1}')}),
        ("a body sent, none signed", {"method": "POST", "body": "[1]"}, {"digest": sha256("")}),
        ("a body signed, none sent", {"method": "POST"}, {"digest": sha256("[1]")}),
        ("the body without its last line end", {"method": "POST", "body": "a,b\n1,2\n"},
         {"digest": sha256("a,b\n1,2")}),
        ("the body without its byte order mark", {"method": "POST", "body": "\ufeff[1]"},
         {"digest": sha256("[1]")}),
        ("the JSON of the body written differently", {"method": "POST", "body": '{"a": 1, "b": 2}'},
         {"digest": sha256('{"a":1,"b":2}')}),
        ("the body in Latin-1", {"method": "POST", "body": "Zürich"},
         {"digest": hashlib.sha256("Zürich".encode("latin-1")).hexdigest()}),
        ("the body's accents put together", {"method": "POST", "body": "e\u0301"},
         {"digest": sha256("\u00e9")}),
        ("the body itself for its digest", {"method": "POST", "body": "[1]"}, {"digest": "[1]"}),
        ("no digest of an empty body", {}, {"digest": ""}),
        ("a word for the digest of the body", {}, {"digest": "UNSIGNED-PAYLOAD"}),
        ("the body's digest in upper case", {}, {"digest": sha256("").upper()}),
        ("the body's digest by SHA-1", {}, {"digest": hashlib.sha1(b"").hexdigest()}),
    ]:
        wrong(name, signed=signed, **given)
    wrong("another word at the end of scope, key and text", signed={"terminator": "aws4_request"})
    wrong("the older word at the end of scope, key and text", signed={"terminator": "iex_request"})
    wrong("another word at the end of key and text than of the scope",
          signed={"terminator": "iex_request"}, header={"scope": "20250314/svc_request"})
    wrong("a wrong secret on a late request", signed={"secret": OTHER_SECRET}, nowMs=at(DATE, 300_001))
    wrong("a wrong secret and another token", signed={"secret": OTHER_SECRET}, header={"token": OTHER})
    wrong("a wrong secret and another day", signed={"secret": OTHER_SECRET, "day": "20250313"})
    wrong("another day in the credential than in key and text", header={"scope": "20250313/svc_request"})
    wrong("everything about the request is another, and it is late",
          method="PUT", path="/v1/x", query=f"a=1&token={T}", host="a.example", body="x",
          signed={"method": "GET", "path": "/v1/y", "query": "b=2", "host": "b.example",
                  "digest": sha256("y"), "secret": OTHER_SECRET, "day": "20240101"},
          header={"token": OTHER}, nowMs=at(DATE, 900_000))


def wrong_queries():
    t = f"token={T}"
    for name, query, signed in [
        ("a value changed after signing", f"last=9999&{t}", f"last=2&{t}"),
        ("a parameter added after signing", f"last=2&asOf=1&{t}", f"last=2&{t}"),
        ("a parameter taken away after signing", f"last=2&{t}", f"format=csv&last=2&{t}"),
        ("a repeated parameter added after signing", f"last=2&last=3&{t}", f"last=2&{t}"),
        ("a value moved to another name", f"from=2020&{t}", f"to=2020&{t}"),
        ("another token than identified", t, f"token={OTHER}"),
        ("the token without its name", t, T),
        ("the token's name in upper case", t, f"TOKEN={T}"),
        ("a question mark in front, token-only form", t, f"?{t}"),
        ("a question mark in front, full form", f"last=2&{t}", f"?last=2&{t}"),
        ("an ampersand at the end", t, f"{t}&"),
        ("nothing for a query that is there", t, ""),
        ("all but the token", f"last=2&{t}", "last=2"),
        ("half of the parameters", f"format=csv&last=2&{t}", f"last=2&{t}"),
        ("not sorted", f"{t}&last=2", f"{t}&last=2"),
        ("sorted backwards", f"a=1&b=2&{t}", f"{t}&b=2&a=1"),
        ("sorted without regard to case", f"b=1&A=2&B=3&a=4&{t}", f"A=2&a=4&b=1&B=3&{t}"),
        ("sorted as decoded text", f"%C3%A9=1&a=2&{t}", f"a=2&{t}&%C3%A9=1"),
        ("sorted as whole pairs", f"a-b=1&a=2&{t}", f"a-b=1&a=2&{t}"),
        ("sorted by units of UTF-16", f"%F0%9F%98%80=1&%EF%BD%9E=2&{t}",
         f"%F0%9F%98%80=1&%EF%BD%9E=2&{t}"),
        ("numbers as names in the order of numbers", f"10=a&9=b&{t}", f"9=b&10=a&{t}"),
        ("repeated values in the order sent", f"tag=b&tag=a&{t}", f"tag=b&tag=a&{t}"),
        ("only the last of repeated names", f"tag=a&tag=b&{t}", f"tag=b&{t}"),
        ("only the first of repeated names", f"tag=a&tag=b&{t}", f"tag=a&{t}"),
        ("equal pairs signed once", f"tag=a&tag=a&{t}", f"tag=a&{t}"),
        ("repeated values joined by a comma", f"tag=a&tag=b&{t}", f"tag=a%2Cb&{t}"),
        ("a name without a value left out", f"a=1&pretty&{t}", f"a=1&{t}"),
        ("a name without a value signed bare", f"pretty&{t}", f"pretty&{t}"),
        ("an empty value left out", f"a=1&subkey=&{t}", f"a=1&{t}"),
        ("empty pieces kept", f"a=1&&{t}", f"&a=1&{t}"),
        ("a blank signed as plus", f"q=a+b&{t}", f"q=a+b&{t}"),
        ("plus taken for itself", f"q=a+b&{t}", f"q=a%2Bb&{t}"),
        ("an escaped plus taken for a blank", f"q=a%2Bb&{t}", f"q=a%20b&{t}"),
        ("marks left plain that must be escaped", f"q=!*'()&{t}", f"q=!*'()&{t}"),
        ("a comma left plain", f"symbols=A,B&{t}", f"symbols=A,B&{t}"),
        ("a tilde escaped", f"q=~&{t}", f"q=%7E&{t}"),
        ("escapes in lower case", f"q=%c3%a9&{t}", f"q=%c3%a9&{t}"),
        ("decoded text", f"q=%C3%A9&{t}", f"q=é&{t}"),
        ("escaped twice", f"q=%C3%A9&{t}", f"q=%25C3%25A9&{t}"),
        ("an escaped escape opened twice", f"q=%2541&{t}", f"q=A&{t}"),
        ("a value cut at its second equals sign", f"filter=a=b&{t}", f"filter=a&{t}"),
        ("an accent put together", f"q=e%CC%81&{t}", f"q=%C3%A9&{t}"),
        ("a byte order mark lost", f"q=%EF%BB%BFx&{t}", f"q=x&{t}"),
    ]:
        wrong(f"query: {name}", query=query, signed={"query": signed})
    wrong("query: escapes that stand for no character, and a wrong secret",
          query=f"q=100%&r=%ff&{t}", signed={"secret": OTHER_SECRET})
    wrong("query: the token of the body signed before other parameters", method="POST", query="a=1",
          token=SK, body=json.dumps({"token": SK}), signed={"query": f"a=1&token={SK}"})


def wrong_steps():
    def raw(key, text):
        return bytes.fromhex(hmac_hex(key, text))

    for name, step in [
        ("the canonical request ends in a line end", lambda p: canonical_request(p) + "\n"),
        ("no empty line after the canonical headers",
         lambda p: canonical_request(p).replace("\n\n", "\n")),
        ("two empty lines after the canonical headers",
         lambda p: canonical_request(p).replace("\n\n", "\n\n\n")),
        ("line ends of Windows", lambda p: canonical_request(p).replace("\n", "\r\n")),
        ("a blank after the colons of the headers",
         lambda p: canonical_request(p).replace("host:", "host: ").replace("-date:", "-date: ")),
        ("names of headers in upper case",
         lambda p: canonical_request(p).replace("host:", "Host:").replace("x-svc-d", "X-Svc-D")),
        ("the date before the host", lambda p: "\n".join([
            p.method, p.path, p.query, f"{p.date_name}:{p.date}\nhost:{p.host}\n", p.headers,
            p.digest])),
        ("the canonical request without signed headers", lambda p: "\n".join([
            p.method, p.path, p.query, f"host:{p.host}\n{p.date_name}:{p.date}\n", p.digest])),
        ("path and query in one line", lambda p: "\n".join([
            p.method, f"{p.path}?{p.query}", f"host:{p.host}\n{p.date_name}:{p.date}\n", p.headers,
            p.digest])),
    ]:
        wrong(name, canonical=step)
    for name, step in [
        ("the canonical request's digest in upper case",
         lambda p, request: "\n".join([p.algorithm, p.date, p.scope, sha256(request).upper()])),
        ("the canonical request itself instead of its digest",
         lambda p, request: "\n".join([p.algorithm, p.date, p.scope, request])),
        ("the text to sign without its algorithm",
         lambda p, request: "\n".join([p.date, p.scope, sha256(request)])),
        ("the text to sign without its date",
         lambda p, request: "\n".join([p.algorithm, p.scope, sha256(request)])),
        ("the text to sign with a line end", lambda p, request: string_to_sign(p, request) + "\n"),
        ("the text to sign with the token in its scope", lambda p, request: "\n".join(
            [p.algorithm, p.date, f"{T}/{p.scope}", sha256(request)])),
        ("the canonical request instead of the text to sign", lambda p, request: request),
    ]:
        wrong(name, to_sign=step)
    for name, step in [
        ("keys chained as bytes", lambda p: raw(raw(p.secret, p.day), p.terminator)),
        ("only the first key as bytes", lambda p: hmac_hex(raw(p.secret, p.day), p.terminator)),
        ("only the second key as bytes", lambda p: raw(hmac_hex(p.secret, p.day), p.terminator)),
        ("the first key in upper case",
         lambda p: hmac_hex(hmac_hex(p.secret, p.day).upper(), p.terminator)),
        ("the second key in upper case", lambda p: signing_key(p).upper()),
        ("the secret read as hex digits",
         lambda p: hmac_hex(hmac_hex(bytes.fromhex(p.secret), p.day), p.terminator)),
        ("a word in front of the secret",
         lambda p: hmac_hex(hmac_hex("SVC" + p.secret, p.day), p.terminator)),
        ("key and message exchanged", lambda p: hmac_hex(p.terminator, hmac_hex(p.day, p.secret))),
        ("the whole date for the day in the key",
         lambda p: hmac_hex(hmac_hex(p.secret, p.date), p.terminator)),
        ("the scope for the day in the key",
         lambda p: hmac_hex(hmac_hex(p.secret, p.scope), p.terminator)),
        ("the key without its last step", lambda p: hmac_hex(p.secret, p.day)),
        ("the secret itself as key", lambda p: p.secret),
    ]:
        wrong(name, key=step)
    wrong("a signature of zeros", header={"signature": "0" * 64})
    wrong("a signature of another digit at its end",
          header={"signature": lambda digits: digits[:-1] + ("0" if digits[-1] != "0" else "1")})
    wrong("a signature backwards", header={"signature": lambda digits: digits[::-1]})
    wrong("a digest of the signature", header={"signature": sha256})


def older_brand():
    iex = {"brand": "iex"}
    valid("older names: token-only form", query=f"token={T}&last=2", **iex)
    valid("older names: full form", query=f"token={T}&last=2", full=f"last=2&token={T}", **iex)
    valid("older names: the token is in the body", method="POST", path="/stable/account/messagebudget",
          query="", full="", token=SK, body=json.dumps({"token": SK, "totalMessages": 5}), **iex)
    restricted("older names: late", nowMs=at(DATE, 300_001), **iex)
    restricted("older names: another token", header={"token": OTHER}, **iex)
    required("older names: no date header", date=None, **iex)
    required("older names: no authorization header", layout=None, **iex)
    malformed("older names: the newer scope", header={"scope": "20250314/svc_request"}, **iex)
    malformed("older names: the newer signed headers", header={"headers": "host;x-svc-date"}, **iex)
    malformed("older names: the algorithm IEX-HMAC-SHA1", header={"algorithm": "IEX-HMAC-SHA1"}, **iex)
    wrong("older names: a wrong secret", signed={"secret": OTHER_SECRET}, **iex)
    wrong("older names: the path without its version, the query with its question mark",
          path="/stable/stock/aapl/quote",
          signed={"path": "/stock/aapl/quote", "query": f"?token={T}"}, **iex)
    wrong("older names: the newer names signed", signed={"brand": "svc"},
          header={"algorithm": "IEX-HMAC-SHA256", "headers": "host;x-iex-date"}, **iex)


if __name__ == "__main__":
    for make in (token_only_queries, full_queries, paths_and_methods, bodies, hosts_and_blanks, clocks,
                 other_days_and_tokens, missing_headers, malformed_authorization, malformed_dates,
                 wrong_requests, wrong_queries, wrong_steps, older_brand):
        make()
    names = [one["name"] for one in CASES]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    target = Path(__file__).with_name("vectors.json")
    target.write_text(json.dumps(CASES, indent=1) + "\n", encoding="ascii")
    for expect in sorted({one["expect"] for one in CASES}):
        print(sum(one["expect"] == expect for one in CASES), expect)
    print(len(CASES), "cases" + (", right signatures as openssl computes them" if OPENSSL else ""))
