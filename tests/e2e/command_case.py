"""What the tests of the commands share: the real binary, called beside a configuration and a data folder of its own."""
import json
import os
import shutil
import socket
import subprocess
import unittest

from opid import BINARY, Opid, base_config, merge

TIMEOUT = 120
OURS = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "TWILIO_CA_BUNDLE", "CARGO_HTTP_CAINFO",
        "BUNDLE_SSL_CA_CERT", "NPM_CONFIG_CAFILE", "NODE_USE_ENV_PROXY", "NODE_EXTRA_CA_CERTS", "DENO_CERT", "WGETRC",
        "JAVA_TOOL_OPTIONS", "OPID_TENANT_TOKEN")


def plain_environment(**more):
    """Ours without what the commands under test set or read; HOME is given, so that no user's files play a part."""
    env = {name: value for name, value in os.environ.items() if name.upper() not in OURS}
    return {**env, **more}


class CommandCase(unittest.TestCase):
    config = {}
    profiles = ()

    def setUp(self):
        self.opid = Opid(merge(base_config(), self.config), self.profiles, start=False)
        self.addCleanup(shutil.rmtree, self.opid.folder, ignore_errors=True)
        self.env = plain_environment(HOME=self.opid.folder)

    def start(self):
        self.opid.start()
        self.addCleanup(self.opid.kill)

    def words(self, command, *words):
        """`opid COMMAND --config FILE ...`; COMMAND may have two words."""
        return [BINARY, *command.split(), "--config", self.opid.config_file, *words]

    def call(self, command, *words, code=0, env=None, **more):
        done = subprocess.run(self.words(command, *words), cwd=self.opid.folder, env={**self.env, **(env or {})},
                              capture_output=True, text=True, timeout=TIMEOUT, **more)
        self.assertEqual(code, done.returncode, done.stdout + done.stderr + self.run_log)
        return done

    def variables(self, *words, **more):
        return json.loads(self.call("env", "--json", *words, **more).stdout)

    @property
    def run_log(self):
        try:
            with open(os.path.join(self.opid.data, "run.log")) as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def noted(self, name):
        with open(os.path.join(self.opid.data, name)) as f:
            host, _, port = f.read().strip().rpartition(":")
        return host, int(port)

    def answers(self, name="proxy.address"):
        """Whether somebody listens at the noted address."""
        try:
            socket.create_connection(self.noted(name), timeout=5).close()
            return True
        except (ConnectionRefusedError, FileNotFoundError):
            return False
