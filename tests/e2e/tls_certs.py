"""Certificate authorities and certificates of every shape, good and bad, made at run time (P-256, in one folder)."""
import datetime
import ipaddress
import os
import ssl
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID as Usage
from cryptography.x509.oid import NameOID

YEAR = 365


def days(n):
    return datetime.datetime.utcnow().replace(microsecond=0) + datetime.timedelta(days=n)


def name_of(common):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)] if common else [])


def alternative(name):
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


class Authority:
    """A CA; `leaf` and `context` make certificates that it signed. `parent`: an intermediate below another one."""

    def __init__(self, name="opid test CA", parent=None):
        self._dir = None if parent else tempfile.TemporaryDirectory(prefix="opid-tls-")
        self.folder = parent.folder if parent else self._dir.name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name, self.made = name, 0
        signer = parent or self
        builder = x509.CertificateBuilder().subject_name(name_of(name)).issuer_name(name_of(signer.name)) \
            .public_key(self.key.public_key()).serial_number(x509.random_serial_number()) \
            .not_valid_before(days(-1)).not_valid_after(days(10 * YEAR)) \
            .add_extension(x509.BasicConstraints(True, None), True) \
            .add_extension(x509.KeyUsage(False, False, False, False, False, True, True, False, False), True) \
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), False)
        if parent:
            builder = builder.add_extension(_key_id(parent), False)
        self.certificate = builder.sign(signer.key, hashes.SHA256())
        self.ca_file = self.write(f"{name.replace(' ', '-')}.pem", self.certificate)

    def write(self, name, *what):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            for one in what:
                f.write(one.public_bytes(serialization.Encoding.PEM) if isinstance(one, x509.Certificate)
                        else one.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                               serialization.NoEncryption()))
        return path

    def leaf(self, *names, valid=(-1, YEAR), usage=Usage.SERVER_AUTH, chain=(), signature=None):
        """(certificate file, key file) for DNS names and addresses; `chain`: certificates to send behind it."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = x509.CertificateBuilder().subject_name(name_of(names[0])).issuer_name(self.certificate.subject) \
            .public_key(key.public_key()).serial_number(x509.random_serial_number()) \
            .not_valid_before(days(valid[0])).not_valid_after(days(valid[1])) \
            .add_extension(x509.SubjectAlternativeName([alternative(n) for n in names]), False) \
            .add_extension(x509.BasicConstraints(False, None), True) \
            .add_extension(x509.ExtendedKeyUsage([usage]), False).add_extension(_key_id(self), False)
        certificate = builder.sign(self.key, signature or hashes.SHA256())
        self.made += 1
        stem = f"{self.name.replace(' ', '-')}-{self.made}"
        return self.write(stem + ".pem", certificate, *chain), self.write(stem + ".key", key)

    def context(self, *names, alpn=("http/1.1",), client_ca=None, client="required", versions=None, **more):
        """A server's SSLContext. `client_ca`: asks for the client's certificate (`client`: required, optional)."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.leaf(*names, **more))
        context.set_alpn_protocols(list(alpn))
        if client_ca:
            context.load_verify_locations(client_ca)
            context.verify_mode = ssl.CERT_REQUIRED if client == "required" else ssl.CERT_OPTIONAL
        if versions:
            context.minimum_version, context.maximum_version = versions
        return context


def _key_id(authority):
    extension = authority.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(extension.value)


def loaded(der_or_pem):
    """A certificate to look at, from DER or PEM bytes."""
    load = x509.load_pem_x509_certificate if der_or_pem.startswith(b"-----") else x509.load_der_x509_certificate
    return load(der_or_pem)


def issuer_name(certificate):
    found = certificate.issuer.get_attributes_for_oid(NameOID.COMMON_NAME)
    return found[0].value if found else ""


def dns_names(certificate):
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return names.get_values_for_type(x509.DNSName)
