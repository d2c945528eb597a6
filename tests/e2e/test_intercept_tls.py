"""TLS of an intercepted tunnel: opid's certificates, protocol choices towards clients, and the checks of providers."""
import concurrent.futures
import datetime
import os
import ssl
import stat
import subprocess
import unittest

import wire
from client import until
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID as Usage
from opid import Opid, base_config, merge
from provider import Provider
from tls_case import ADDRESSES, BLIND, GITHUB, LONG, OPENAI, STRIPE, InterceptCase, reply_ok, trusting_all_names
from tls_certs import Authority, dns_names, loaded

HOUR, DAY = datetime.timedelta(hours=1), datetime.timedelta(days=1)
V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def value(certificate, kind):
    return certificate.extensions.get_extension_for_class(kind).value


class Certificates(InterceptCase):
    def leaf(self, host):
        return loaded(self.inside(host).sock.certificate)

    @property
    def ca_folder(self):
        return os.path.join(self.opid.data, "ca")

    @property
    def authority(self):
        with open(os.path.join(self.ca_folder, "ca.pem"), "rb") as f:
            return loaded(f.read())

    def test_the_authority(self):
        ca = self.authority
        constraints = ca.extensions.get_extension_for_class(x509.BasicConstraints)
        usage = ca.extensions.get_extension_for_class(x509.KeyUsage)
        self.assertEqual((True, True, True), (constraints.critical, constraints.value.ca, usage.critical))
        self.assertTrue(usage.value.key_cert_sign and usage.value.crl_sign)
        self.assertTrue(value(ca, x509.SubjectKeyIdentifier).digest)
        self.assertIsInstance(ca.public_key(), ec.EllipticCurvePublicKey)
        self.assertEqual(0o600, stat.S_IMODE(os.stat(os.path.join(self.ca_folder, "ca.key")).st_mode))

    def test_a_leaf(self):
        ca = self.authority
        for host in (OPENAI, STRIPE, "one.wild.test"):
            with self.subTest(host):
                leaf = self.leaf(host)
                self.assertEqual([host], dns_names(leaf))
                self.assertEqual(value(ca, x509.SubjectKeyIdentifier).digest,
                                 value(leaf, x509.AuthorityKeyIdentifier).key_identifier)
                self.assertEqual(ca.subject, leaf.issuer)
                self.assertIn(Usage.SERVER_AUTH, value(leaf, x509.ExtendedKeyUsage))
                usage = value(leaf, x509.KeyUsage)
                self.assertEqual((True, False, False), (usage.digital_signature, usage.key_cert_sign, usage.crl_sign))
                self.assertFalse(value(leaf, x509.BasicConstraints).ca)
                self.assertIsInstance(leaf.signature_hash_algorithm, hashes.SHA256)
                self.assertEqual("secp256r1", leaf.public_key().curve.name)
                self.assertNotEqual(ca.public_key().public_numbers(), leaf.public_key().public_numbers())

    def test_what_a_leaf_must_not_have(self):
        leaf = self.leaf(OPENAI)
        for kind in (x509.CRLDistributionPoints, x509.AuthorityInformationAccess, x509.TLSFeature,
                     x509.PrecertificateSignedCertificateTimestamps):
            with self.assertRaises(x509.ExtensionNotFound):
                value(leaf, kind)

    def test_validity_and_serial_numbers(self):
        leaves = [self.leaf(host) for host in (OPENAI, STRIPE, "two.wild.test", "three.wild.test")]
        now = datetime.datetime.utcnow()
        for leaf in leaves:
            self.assertLessEqual(leaf.not_valid_after - leaf.not_valid_before, 90 * DAY)
            self.assertLessEqual(leaf.not_valid_before, now - HOUR)
            self.assertGreater(leaf.not_valid_after, now + DAY)
            self.assertTrue(0 < leaf.serial_number < 1 << 159, leaf.serial_number)
            self.assertGreater(leaf.serial_number.bit_length(), 63)
        self.assertEqual(len(leaves), len({leaf.serial_number for leaf in leaves}))

    def test_a_name_over_64_characters_has_an_empty_subject(self):
        leaf = self.leaf(LONG)
        self.assertEqual(([LONG], 0), (dns_names(leaf), len(list(leaf.subject))))
        self.assertTrue(leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).critical)

    def test_addresses(self):
        for host in ADDRESSES:
            with self.subTest(host):
                leaf = self.leaf(host)
                names = value(leaf, x509.SubjectAlternativeName)
                self.assertEqual([host], [str(a) for a in names.get_values_for_type(x509.IPAddress)])
                self.assertEqual([], dns_names(leaf))
                self.assert_ok(self.get(self.inside(host), f"[{host}]" if ":" in host else host))

    def test_openssl_finds_nothing_to_complain_about(self):
        path = os.path.join(self.opid.folder, "leaf.pem")
        with open(path, "w") as f:
            f.write(ssl.DER_cert_to_PEM_cert(self.inside(OPENAI).sock.certificate))
        done = subprocess.run(["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", OPENAI,
                               "-CAfile", os.path.join(self.ca_folder, "ca.pem"), path], capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_the_bundle_holds_the_authority_and_the_roots(self):
        context = ssl.create_default_context(cafile=os.path.join(self.ca_folder, "bundle.pem"))
        self.assertGreater(len(context.get_ca_certs()), 1)
        self.assert_ok(self.get(self.inside(OPENAI, context), OPENAI))

    def test_the_truststore_opens_with_its_password(self):
        done = subprocess.run(["openssl", "pkcs12", "-in", os.path.join(self.ca_folder, "truststore.p12"), "-nokeys",
                               "-passin", "pass:changeit"], capture_output=True, text=True)
        self.assertIn("BEGIN CERTIFICATE", done.stdout, done.stderr)

    def test_one_leaf_however_many_ask(self):
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            leaves = list(pool.map(lambda _: self.leaf("crowd.wild.test").serial_number, range(48)))
        self.assertEqual(1, len(set(leaves)))

    def test_a_restart_keeps_the_authority_and_old_sessions_do_no_harm(self):
        context = self.trusting()
        context.maximum_version = V12
        conn = self.inside(OPENAI, context)
        self.assert_ok(self.get(conn, OPENAI))
        session, before = conn.sock.tls.session, self.authority
        again = self.inside(OPENAI, context, session=session)
        self.assert_ok(self.get(again, OPENAI))
        self.opid.restart()
        self.assertEqual(before, self.authority)
        late = self.inside(OPENAI, context, session=session)
        self.assertFalse(late.sock.tls.session_reused)
        self.assert_ok(self.get(late, OPENAI))
        other = self.inside("one.wild.test", context, session=late.sock.tls.session)   # nor under another name
        self.assertFalse(other.sock.tls.session_reused)


class Rotation(InterceptCase):
    def test_a_new_authority_signs_from_now_on_and_open_connections_go_on(self):
        old_trust = self.trusting()
        conn = self.inside(OPENAI, old_trust)
        self.assertEqual(200, self.get(conn, OPENAI).status)
        session = conn.sock.tls.session
        before = loaded(conn.sock.certificate)

        self.assertEqual(200, self.opid.admin("POST", "/v1/ca/rotation").status)
        self.assertEqual(200, self.get(conn, OPENAI).status)
        with self.assertRaises(ssl.SSLError):
            self.inside(OPENAI, old_trust)
        after = loaded(self.inside(OPENAI, self.trusting()).sock.certificate)
        self.assertNotEqual(before.issuer, after.issuer)
        self.assertNotEqual(before.serial_number, after.serial_number)
        with self.assertRaises(ssl.SSLError):  # a ticket of the old authority opens nothing
            self.inside(OPENAI, old_trust, session=session)


class Clients(InterceptCase):
    def test_application_protocols(self):
        for offer, chosen in ((("h2", "http/1.1"), "http/1.1"), (("http/1.1",), "http/1.1"), ((), None),
                              (("http/1.0", "http/1.1"), "http/1.1")):
            with self.subTest(offer):
                conn = self.inside(OPENAI, self.trusting(alpn=offer))
                self.assertEqual(chosen, conn.sock.tls.selected_alpn_protocol())
                self.assert_ok(self.get(conn, OPENAI))

    def test_versions(self):
        for version in (V12, V13):
            context = self.trusting()
            context.minimum_version = context.maximum_version = version
            self.assert_ok(self.get(self.inside(OPENAI, context), OPENAI))
        old = self.trusting()
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        conn, _ = self.tunnel(f"{OPENAI}:443")
        with self.assertRaises(ssl.SSLError) as failure:
            self.handshake(conn, old, OPENAI)
        self.assertIn("PROTOCOL_VERSION", str(failure.exception).upper().replace(" ", "_"))

    def test_a_client_without_our_authority_is_named_in_the_log_with_the_way_out(self):
        for n, version in enumerate((V12, V13)):
            stranger = ssl.create_default_context(cafile=self.ca.ca_file)
            stranger.maximum_version = version
            host = f"stranger{n}.wild.test"
            conn, _ = self.tunnel(f"{host}:443")
            with self.assertRaises(ssl.SSLCertVerificationError):
                self.handshake(conn, stranger, host)
            lines = until(lambda: [x for x in self.opid.log.splitlines() if host in x], "a line in the log")
            self.assertRegex("\n".join(lines), r"(?i)opid env|ca export|ca\.pem")
        self.assert_nothing_sent()
        self.assert_ok(self.get(self.inside(OPENAI), OPENAI))

    def test_a_client_that_leaves_in_the_handshake(self):
        for how in ("close", "reset"):
            conn, _ = self.tunnel(f"{OPENAI}:443")
            conn.send(b"\x16\x03\x01\x00\xf0\x01")
            getattr(conn, how)()
        self.assert_ok(self.get(self.inside(OPENAI), OPENAI))
        self.assert_alive_inside()

    def test_noise_behind_the_handshake_ends_the_connection_and_nothing_else(self):
        conn = self.inside(OPENAI)
        raw = conn.sock.sock
        raw.sendall(b"\x17\x03\x03\x00\x20" + b"n" * 32)    # a record that no key has made
        try:
            wire.Reader(raw).rest()     # it ends
        except (wire.Closed, ConnectionResetError):
            pass
        self.assert_nothing_sent()
        self.assert_alive_inside()

    def assert_alive_inside(self):
        self.assertTrue(self.opid.alive())
        self.assert_ok(self.get(self.inside(OPENAI), OPENAI))


class Providers(unittest.TestCase):
    """Each provider has a certificate, or a wish, of its own. Nothing may reach those that can't be trusted."""

    @classmethod
    def setUpClass(cls):
        ca, stranger = Authority(), Authority("another CA")
        below = Authority("a CA between", parent=ca)
        asks = {"client_ca": ca.ca_file}
        cls.cases = {
            "good": (ca.context("good.test"), 200),
            "chain": (below.context("chain.test", chain=[below.certificate]), 200),
            "wildcard": (ca.context("*.mid.test"), 200),
            "optional": (ca.context("optional.test", client="optional", **asks), 200),
            "tls12": (ca.context("tls12.test", versions=(V12, V12)), 200),
            "noalpn": (ca.context("noalpn.test", alpn=("h2",)), 200),    # its answer names no protocol
            "expired": (ca.context("expired.test", valid=(-30, -1)), 502),
            "early": (ca.context("early.test", valid=(2, 30)), 502),
            "other": (ca.context("elsewhere.test"), 502),
            "deep": (ca.context("*.other.test"), 502),
            "untrusted": (stranger.context("untrusted.test"), 502),
            "incomplete": (below.context("incomplete.test"), 502),
            "usage": (ca.context("usage.test", usage=Usage.CLIENT_AUTH), 502),
            "asks12": (ca.context("asks12.test", versions=(V12, V12), **asks), 502),
            "asks13": (ca.context("asks13.test", versions=(V13, V13), **asks), 502),
            "given": (ca.context("given.test", **asks), 200),
            "old": (ca.context("old.test", versions=(ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)), 502),
        }
        cls.cases["old"][0].set_ciphers("ALL:@SECLEVEL=0")
        cls.providers = {name: Provider(handler=reply_ok, tls=context) for name, (context, _) in cls.cases.items()}
        cls.providers["address"] = Provider(handler=reply_ok, tls=ca.context("address.test"))
        cls.cases["address"] = (None, 502)
        certificate, key = ca.leaf("a client", usage=Usage.CLIENT_AUTH)
        pair = ca.write("client.pem", loaded(open(certificate, "rb").read()))
        with open(pair, "ab") as f:
            f.write(open(key, "rb").read())
        profiles = []
        for name, provider in cls.providers.items():
            tls = {"ca": f"file:{ca.ca_file}"}
            if name == "given":
                tls["client_certificate"] = f"file:{pair}"
            profiles.append({"provider": name, "hosts": [cls.host(name)], "upstream_address": provider.authority,
                             "key": "none", "tls": tls})
        cls.opid = Opid(base_config(), profiles)
        cls.ca = ca

    @classmethod
    def tearDownClass(cls):
        for provider in cls.providers.values():
            provider.close()
        cls.opid.close()

    @staticmethod
    def host(name):
        return {"address": "198.51.100.9", "wildcard": "one.mid.test"}.get(name, f"{name}.test")

    inside, tunnel, handshake = InterceptCase.inside, InterceptCase.tunnel, InterceptCase.handshake

    @property
    def trust(self):
        return InterceptCase.trusting(opid=self.opid)

    def test_every_kind_of_provider(self):
        for name, (_, status) in self.cases.items():
            with self.subTest(name):
                host, provider = self.host(name), self.providers[name]
                conn = self.inside(host)
                read = conn.request("GET", "/x", host=host)
                self.assertEqual(status, read.status, read)
                if read.closes:
                    conn = self.inside(host)
                write = conn.request("POST", "/x", {"Operation-Id": f"cert-{name}"}, "x", host=host)
                self.assertEqual(status, write.status, write)
                if status == 200:
                    self.assertEqual((1, None if name == "noalpn" else "http/1.1"),
                                     (len(provider.attempts), self.protocol(provider)))
                    continue
                self.assertEqual(([], []), (provider.attempts, provider.lookups))
                self.assertEqual(("not-sent", "prepared"), (write.problem, self.opid.status(f"cert-{name}")))
                for r in (read, write):
                    self.assertRegex(r.json["detail"], r"(?i)certificate|handshake|TLS|protocol|expired|name")

    def protocol(self, provider):
        return provider.attempts[-1].sock.selected_alpn_protocol()

    def test_a_client_certificate_that_is_wanted_is_named_as_the_cause(self):
        for name in ("asks12", "asks13"):
            with self.subTest(name):
                r = self.inside(self.host(name)).request("POST", "/x", {"Operation-Id": f"why-{name}"}, "x",
                                                         host=self.host(name))
                self.assertRegex(r.json["detail"], "(?i)client.certificate")

    def test_the_connection_to_the_client_survives_a_bad_provider(self):
        conn = self.inside(self.host("expired"))
        for _ in range(3):
            r = conn.request("GET", "/x", host=self.host("expired"))
            self.assertEqual(502, r.status)
            if r.closes:
                conn = self.inside(self.host("expired"))


class Origins(InterceptCase):
    def test_the_provider_sees_the_name_and_http_1_1_alone(self):
        seen = []
        context = self.ca.context(OPENAI, alpn=("h2", "http/1.1"))
        context.sni_callback = lambda sock, name, _: seen.append(name)
        provider = Provider(handler=reply_ok, tls=context)
        self.addCleanup(provider.close)
        self.opid.write_profiles([merge(p, {"upstream_address": provider.authority}) if p["provider"] == "openai" else p
                                  for p in self.profiles(None)])
        self.assertEqual(200, self.opid.reload().status)
        self.assert_ok(self.get(self.inside(OPENAI), OPENAI))
        self.assertEqual(([OPENAI], "http/1.1"), (seen, provider.lookups[0].sock.selected_alpn_protocol()))
        self.opid.write_profiles(self.profiles(None))
        self.assertEqual(200, self.opid.reload().status)

    def test_a_blind_tunnel_shows_the_origins_own_certificate(self):
        for offer, chosen in ((("h2",), "h2"), (("http/1.1",), "http/1.1")):
            conn = self.inside(BLIND, trusting_all_names(self.ca.ca_file, offer))
            self.assertEqual(chosen, conn.sock.tls.selected_alpn_protocol())
            self.assertEqual([BLIND, GITHUB], dns_names(loaded(conn.sock.certificate)))


if __name__ == "__main__":
    unittest.main()
