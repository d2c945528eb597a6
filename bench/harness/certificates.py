"""Certificates of a run: a CA of its own, and what the fake provider shows for all of its names."""
import dataclasses
import pathlib
import subprocess

from . import procs

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
LEAF = f"""subjectAltName=DNS:{procs.SECURE_HOST},DNS:*.{procs.SECURE_HOST},DNS:{procs.BLIND_HOST}
extendedKeyUsage=serverAuth
keyUsage=critical,digitalSignature
basicConstraints=CA:FALSE
"""


@dataclasses.dataclass
class Certificates:
    ca: pathlib.Path
    ca_key: pathlib.Path
    chain: pathlib.Path
    key: pathlib.Path


def openssl(*words):
    try:
        done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, timeout=30)
    except OSError as error:
        raise procs.BenchError(f"openssl is needed to make certificates: {error}") from error
    if done.returncode != 0:
        raise procs.BenchError(f"openssl {words[0]}: {done.stderr[-500:]}")


def make(folder):
    home = folder / "certificates"
    home.mkdir()
    made = Certificates(home / "ca.pem", home / "ca.key", home / "leaf.pem", home / "leaf.key")
    openssl("req", "-x509", *CURVE, "-keyout", made.ca_key, "-out", made.ca, "-days", 30, "-subj", "/CN=bench CA",
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    (home / "leaf.ext").write_text(LEAF)
    openssl("req", "-new", *CURVE, "-keyout", made.key, "-out", home / "leaf.csr", "-subj",
            f"/CN={procs.SECURE_HOST}")
    openssl("x509", "-req", "-in", home / "leaf.csr", "-CA", made.ca, "-CAkey", made.ca_key, "-CAcreateserial",
            "-days", 30, "-extfile", home / "leaf.ext", "-out", made.chain)
    return made
