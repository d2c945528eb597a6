"""Python's ways to speak HTTP: stacks.py urllib | requests | httpx | aiohttp | stripe. Lines: see lines.mjs."""
import asyncio
import json
import os
import ssl
import sys
import urllib.error
import urllib.request


def say(*words):
    print("\t".join(" ".join(str(w if w is not None else "-").split()) for w in words), flush=True)


def issuer(sock):
    for part in sock.getpeercert().get("issuer", ()):
        for name, value in part:
            if name == "commonName":
                return value
    return "-"


def tell_blind(who, body):
    seen = json.loads(body)
    say("blind", who, f"through {seen['via']}" if seen["via"] else seen["protocol"])


def tell_events(lines):
    for line in lines:
        line = line.decode() if isinstance(line, bytes) else line
        if line.startswith("data: "):
            say("event", line[6:])
    say("end")


def body_of(text):
    return json.dumps({"text": text}).encode()


class Urllib:
    version, led = sys.version.split()[0], "environment"

    def open(self, url, headers=(), body=None):
        request = urllib.request.Request(url, body, dict(headers))
        try:
            return urllib.request.urlopen(request)
        except urllib.error.HTTPError as e:
            return e

    def write(self, url, op, text):
        self.answer(self.open(url, {"Operation-Id": op, "Content-Type": "application/json"}, body_of(text)))

    def read(self, url):
        self.answer(self.open(url))

    def answer(self, r):
        say("answer", r.status, r.headers.get("Idempotent-Replayed"), r.read().decode())

    def events(self, url, *_):
        tell_events(self.open(url))

    def blind(self, url):
        r = self.open(url)
        who = issuer(r.fp.raw._sock)
        tell_blind(who, r.read())


class Requests:
    led = "environment"

    def __init__(self):
        import requests
        self.session, self.version = requests.Session(), requests.__version__

    def write(self, url, op, text):
        headers = {"Operation-Id": op, "Content-Type": "application/json"}
        self.answer(self.session.post(url, data=body_of(text), headers=headers))

    def read(self, url):
        self.answer(self.session.get(url))

    def answer(self, r):
        say("answer", r.status_code, r.headers.get("Idempotent-Replayed"), r.text)

    def events(self, url, *_):
        tell_events(self.session.get(url, stream=True).iter_lines(chunk_size=1))

    def blind(self, url):
        r = self.session.get(url, stream=True)
        who = issuer(r.raw._connection.sock)
        tell_blind(who, r.content)


class Httpx:
    led = "environment"

    def __init__(self):
        import httpx
        self.client, self.version = httpx.Client(), httpx.__version__

    def write(self, url, op, text):
        headers = {"Operation-Id": op, "Content-Type": "application/json"}
        self.answer(self.client.post(url, content=body_of(text), headers=headers))

    def read(self, url):
        self.answer(self.client.get(url))

    def answer(self, r):
        say("answer", r.status_code, r.headers.get("Idempotent-Replayed"), r.text)

    def events(self, url, *_):
        with self.client.stream("GET", url) as r:
            tell_events(r.iter_lines())

    def blind(self, url):
        with self.client.stream("GET", url) as r:
            who = issuer(r.extensions["network_stream"].get_extra_info("ssl_object"))
            tell_blind(who, r.read())


class Aiohttp:
    led = "trust_env=True"

    def __init__(self):
        import aiohttp
        self.version, self.loop = aiohttp.__version__, asyncio.new_event_loop()
        self.session = self.loop.run_until_complete(self.make(aiohttp))

    @staticmethod
    async def make(aiohttp):
        return aiohttp.ClientSession(trust_env=True)

    def __getattr__(self, name):
        verb = getattr(type(self), name + "_")
        return lambda *words: self.loop.run_until_complete(verb(self, *words))

    async def write_(self, url, op, text):
        headers = {"Operation-Id": op, "Content-Type": "application/json"}
        async with self.session.post(url, data=body_of(text), headers=headers) as r:
            say("answer", r.status, r.headers.get("Idempotent-Replayed"), await r.text())

    async def read_(self, url):
        async with self.session.get(url) as r:
            say("answer", r.status, r.headers.get("Idempotent-Replayed"), await r.text())

    async def events_(self, url, *_):
        async with self.session.get(url) as r:
            async for line in r.content:
                if line.startswith(b"data: "):
                    say("event", line[6:].decode())
        say("end")

    async def blind_(self, url):
        async with self.session.get(url) as r:
            tell_blind(None, await r.text())    # by now its connection, and with it the certificate, is gone


class StripePython:
    led = "stripe.ca_bundle_path"

    def __init__(self):
        import stripe
        self.stripe, self.version = stripe, stripe.version.VERSION
        stripe.api_key, stripe.max_network_retries = "sk_test_4242", 0
        stripe.ca_bundle_path = os.environ["REQUESTS_CA_BUNDLE"]    # it ships roots of its own
        stripe.log = None

    def write(self, _, op, text):
        charge = self.stripe.Charge.create(amount=2000, currency="usd", source="tok_visa", description=text,
                                           headers={"Operation-Id": op})
        replayed = charge.last_response.headers.get("Idempotent-Replayed")
        say("answer", "-", replayed, charge.id)

    def read(self, _):
        say("answer", "-", None, self.stripe.Charge.retrieve("read-1").id)


CLIENTS = {"urllib": Urllib, "requests": Requests, "httpx": Httpx, "aiohttp": Aiohttp, "stripe": StripePython}


def main():
    client = CLIENTS[sys.argv[1]]()
    say("ready", client.version, client.led)
    for line in sys.stdin:
        verb, *words = line.rstrip("\n").split("\t")
        try:
            getattr(client, verb)(*words)
        except (Exception, ssl.SSLError) as e:
            say("error", type(e).__name__, e, getattr(e, "json_body", ""))


if __name__ == "__main__":
    main()
