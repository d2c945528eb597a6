"""What the test_intercept files share: an opid that intercepts, providers behind TLS under their real names, and ways in."""
import os
import ssl

import yaml

import wire
from case import ProxyCase, reply_ok
from client import Conn
from opid import ROOT, Opid, base_config, merge
from provider import Provider
from tls_certs import Authority
from tls_wire import TlsSocket

STRIPE = "api.stripe.com"       # takes keys; the shipped profile
GITHUB = "api.github.com"       # takes none; the shipped profile
OPENAI = "api.openai.com"       # takes none, and writes without an ID pass
PLAIN = "api.demo.test"         # a profile whose provider speaks HTTP in the clear
BLIND = "blind.test"            # no profile
ADDRESSES = ("198.51.100.7", "2001:db8::7")     # a profile of addresses
LONG = "a" * 40 + "." + "b" * 40 + ".wild.test"  # over 64 characters, under a wildcard
NAMES = (STRIPE, GITHUB, OPENAI, "api.anthropic.com", "slack.com", LONG, "one.wild.test", *ADDRESSES)


def shipped(name, **more):
    """The profile policies/NAME.yaml as a dict, with changes."""
    with open(os.path.join(ROOT, "policies", f"{name}.yaml")) as f:
        return merge(yaml.safe_load(f), more)


class InterceptCase(ProxyCase):
    """One opid for the class. `ca` signs the providers; `trust` is a client context that trusts opid's CA alone."""

    @classmethod
    def setUpClass(cls):
        cls.ca = Authority()
        cls.provider = Provider(handler=reply_ok, tls=cls.ca.context(*NAMES))
        cls.clear = Provider(handler=reply_ok)
        cls.origin = Provider(handler=reply_ok, tls=cls.ca.context(BLIND, GITHUB, alpn=("h2", "http/1.1")))
        names = {f"{BLIND}:443": cls.origin.authority, f"{PLAIN}:80": cls.clear.authority,
                 f"{PLAIN}:443": cls.clear.authority}
        config = base_config(egress={"resolve": names}, timeouts={"sniff": "300ms"})
        cls.opid = Opid(merge(config, cls.config), cls.profiles(cls.provider.authority), env=cls.env)
        cls.trust = cls.trusting()

    @classmethod
    def tearDownClass(cls):
        cls.origin.close()
        cls.clear.close()
        super().tearDownClass()

    @classmethod
    def behind(cls, provider=None):
        """Members of a profile: where its provider is, and who signed it."""
        return {"upstream_address": (provider or cls.provider).authority, "tls": {"ca": f"file:{cls.ca.ca_file}"}}

    @classmethod
    def profiles(cls, _authority):
        tls, lenient = cls.behind(), {"key": "none", "identity": {"missing": "pass"}}
        return [
            shipped("stripe", **tls), shipped("github", **tls),
            {"provider": "openai", "hosts": [OPENAI], **lenient, **tls},
            {"provider": "wild", "hosts": ["*.wild.test"], **lenient, **tls},
            {"provider": "addresses", "hosts": [ADDRESSES[0], f"[{ADDRESSES[1]}]"], **lenient, **tls},
            {"provider": "demo", "hosts": [PLAIN], "upstream": f"http://{PLAIN}", **lenient,
             "upstream_address": cls.clear.authority},
        ]

    @classmethod
    def trusting(cls, alpn=("http/1.1",), opid=None):
        """A strict client's context that trusts opid's CA and nothing else."""
        context = ssl.create_default_context(cafile=os.path.join((opid or cls.opid).data, "ca", "ca.pem"))
        context.verify_flags |= ssl.VERIFY_X509_STRICT    # what newer Pythons ask for by themselves
        if alpn:
            context.set_alpn_protocols(list(alpn))
        return context

    def script(self, *steps, keyed=False):
        """The next attempts of the TLS provider; `keyed`: it honours the key of its API."""
        self.provider.handler = None
        self.provider.mode = "keyed" if keyed else "plain"
        self.provider.script(list(steps) if steps else None)
        self.effects = self.provider.effects

    def assert_effects(self, n):
        self.assertEqual(n, self.provider.effects - self.effects, "effects in the ledger")
        self.assertEqual([], self.provider.unexpected)

    def tunnel(self, target, headers=None, version="HTTP/1.1", early=b"", opid=None, timeout=20):
        """A connection after its CONNECT, and the answer to it."""
        conn = Conn((opid or self.opid).proxy, timeout=timeout)
        self.addCleanup(conn.close)
        headers = {"Host": target} if headers is None else headers
        conn.send(wire.head_bytes(f"CONNECT {target} {version}", headers) + early)
        return conn, conn.response("CONNECT")

    def inside(self, host, context=None, sni=True, opid=None, headers=None, session=None, port=443):
        """A connection inside an intercepted (or blind) tunnel: `inside.sock` is its TlsSocket."""
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        conn, r = self.tunnel(target, {"Host": target, **(headers or {})}, opid=opid)
        self.assertEqual(200, r.status, r)
        self.handshake(conn, context or self.trust, host if sni is True else sni, session)
        return conn

    def handshake(self, conn, context, name, session=None):
        tls = TlsSocket(conn.sock, context, name or None, session).handshake()
        conn.sock, conn.reader = tls, wire.Reader(tls)
        return tls

    def get(self, conn, host, path="/x", headers=()):
        return conn.request("GET", path, headers, host=host)

    def write(self, conn, host, op, body='{"a":1}', path="/v1/refunds", headers=()):
        pairs = [("Operation-Id", op), ("Content-Type", "application/json"), *dict(headers).items()]
        return conn.request("POST", path, pairs, body, host=host)

    def assert_ok(self, r):
        self.assertEqual((200, b"ok"), (r.status, r.body), r)


def trusting_all_names(ca_file, alpn=("http/1.1",)):
    """Trusts this CA but looks at no name: to see a certificate that is not for the name."""
    context = ssl.create_default_context(cafile=ca_file)
    context.check_hostname = False
    context.set_alpn_protocols(list(alpn))
    return context
