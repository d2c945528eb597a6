"""`opid run`: exit codes, signals, and the proxy that several of them share."""
import os
import pty
import signal
import stat
import subprocess
import unittest

import client
from case import reply_ok
from command_case import TIMEOUT, CommandCase
from opid import BINARY, demo_profile, merge
from provider import Provider


def hear_hangups():
    """Under nohup they are ignored, and no shell can trap what it was started to ignore."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Run(CommandCase):
    def shell(self, script, *words, **more):
        return self.call("run", "--", "sh", "-c", script, "sh", *words, **more)

    def test_exit_codes(self):
        self.start()  # one proxy for all of them
        self.shell("exit 0")
        self.shell("exit 7", code=7)
        self.shell("kill -TERM $$", code=128 + signal.SIGTERM)
        self.shell("kill -KILL $$", code=128 + signal.SIGKILL)
        self.assertIn("no-such-program", self.call("run", "no-such-program", code=127).stderr)
        self.call("run", "--", self.opid.config_file, code=126)
        self.call("run", code=2)
        self.call("run", "--", code=2)
        self.call("run", "--no-such-option", "true", code=2)
        self.assertTrue(self.opid.alive())

    def test_what_the_command_gets(self):
        self.start()
        done = self.shell('cat; for word in "$@"; do echo "<$word>"; done; echo err >&2', "--config", "a b", "--", "-x",
                          input="from stdin\n")
        self.assertEqual("from stdin\n<--config>\n<a b>\n<-->\n<-x>\n", done.stdout)
        self.assertEqual("err\n", done.stderr)
        self.assertIn("--tenant", self.call("run", "--help").stdout)
        printed = self.shell("env -0").stdout
        seen = dict(entry.split("=", 1) for entry in printed.split("\0") if entry)
        for name, value in self.variables().items():
            self.assertEqual(value, seen.get(name), name)
        self.assertEqual(f"http://127.0.0.1:{self.opid.ports['proxy']}", seen["http_proxy"])
        self.assertTrue(self.opid.alive(), "a proxy that was there is left alone")

    def test_it_starts_a_proxy_and_stops_it(self):
        done = self.shell('echo "$http_proxy"; cat "$1/proxy.address" "$1/run.started"', self.opid.data)
        url, address, process = done.stdout.split("\n")[:3]
        self.assertEqual(url, "http://" + address)
        self.assertEqual("", done.stderr)
        self.assertFalse(self.answers())
        self.assertFalse(os.path.exists("/proc/" + process.split()[0]))
        self.assertFalse(os.path.exists(os.path.join(self.opid.data, "run.started")))
        self.assertIn("serving", self.run_log)
        self.assertEqual(0o600, stat.S_IMODE(os.stat(os.path.join(self.opid.data, "run.log")).st_mode))
        again = self.shell('test "$(cat "$1/proxy.address")" = "${http_proxy#http://}"', self.opid.data)
        self.assertEqual("", again.stdout)

    def test_a_write_of_the_command_is_guarded(self):
        provider = Provider(handler=reply_ok)
        self.addCleanup(provider.close)
        self.opid.write_profiles([demo_profile(provider.authority)])
        self.opid.write_config(merge(self.opid.config, {"egress": {"resolve": {"api.demo.test:80": provider.authority}}}))
        write = "curl -sS --fail -H 'Operation-Id: run-1' --data x http://api.demo.test/refunds"
        self.shell(f"{write} && {write}")
        self.assertEqual(1, len(provider.attempts))

    def test_the_proxy_stops_although_the_command_fails_to_start(self):
        self.call("run", "no-such-program", code=127)
        self.assertFalse(self.answers())

    def test_a_port_that_somebody_else_has(self):
        provider = Provider()
        self.addCleanup(provider.close)
        self.opid.write_config(merge(self.opid.config, {"listen": {"proxy": provider.authority}}))
        done = self.shell("echo never", code=4)
        self.assertEqual("", done.stdout)
        self.assertIn(provider.authority, done.stderr)
        self.assertIn("run.log", done.stderr)

    def test_an_opid_of_another_data_folder_is_not_taken_for_ours(self):
        self.start()
        at = {"proxy": "127.0.0.1:%d" % self.opid.ports["proxy"], "admin": "127.0.0.1:%d" % self.opid.ports["admin"]}
        self.opid.write_config(merge(self.opid.config, {"listen": at, "data": "./other"}))
        done = self.shell("echo never", code=4)
        self.assertEqual("", done.stdout)
        self.assertIn("--config", done.stderr)

    def test_a_configuration_that_serve_refuses(self):
        self.opid.write_profiles({"bad.yaml": "provider: bad\nhost: [x]\n"})
        done = self.shell("echo never", code=4)
        self.assertIn("bad.yaml:2", done.stderr)
        self.assertEqual("", done.stdout)

    def begin(self, script, *words):
        """A running `opid run` whose command has printed `ready`."""
        process = subprocess.Popen(self.words("run", "--", "sh", "-c", script, "sh", *words), cwd=self.opid.folder,
                                   env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, bufsize=0, preexec_fn=hear_hangups)
        self.addCleanup(self.end, process)
        self.assertEqual("ready\n", process.stdout.readline(), self.run_log)
        return process

    def end(self, process):
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
        if process.poll() is None:
            process.terminate()
            process.wait(TIMEOUT)

    def test_signals_are_passed_on(self):
        process = self.begin("trap 'echo got; exit 3' TERM HUP USR1; echo ready; while :; do sleep 0.05; done")
        process.terminate()
        self.assertEqual("got\n", process.stdout.readline())
        self.assertEqual(3, process.wait(TIMEOUT))
        self.assertFalse(self.answers())
        for number in (signal.SIGHUP, signal.SIGUSR1):
            process = self.begin("trap 'exit 4' HUP USR1; echo ready; while :; do sleep 0.05; done")
            process.send_signal(number)
            self.assertEqual(4, process.wait(TIMEOUT))
        process = self.begin("echo ready; exec sleep 600")
        process.send_signal(signal.SIGINT)
        self.assertEqual(128 + signal.SIGINT, process.wait(TIMEOUT))
        self.assertFalse(self.answers())

    def test_the_terminals_interrupt_reaches_the_command_once(self):
        self.start()
        script = "trap 'count=x$count' INT; echo ready; read line; echo \"<$count>\"; exit 5"
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.opid.folder)
            os.execve(BINARY, self.words("run", "--", "bash", "-c", script), self.env)
        self.addCleanup(os.close, terminal)
        text = b""
        while b"ready" not in text:
            text += os.read(terminal, 1000)
        os.write(terminal, b"\x03")
        while b"^C" not in text:
            text += os.read(terminal, 1000)
        os.write(terminal, b"\n")
        while b">" not in text:
            text += os.read(terminal, 1000)
        self.assertIn(b"<x>", text)
        self.assertEqual(5, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    def test_the_last_one_out_stops_the_proxy(self):
        first = self.begin("echo ready; read line")
        second = self.begin("echo ready; read line")
        first.stdin.write("\n")
        self.assertEqual(0, first.wait(TIMEOUT))
        self.assertTrue(self.answers(), "the second one still uses it")
        third = self.begin("echo ready; read line")
        second.stdin.write("\n")
        self.assertEqual(0, second.wait(TIMEOUT))
        self.assertTrue(self.answers())
        third.stdin.write("\n")
        self.assertEqual(0, third.wait(TIMEOUT))
        self.assertFalse(self.answers())

    def test_a_proxy_whose_command_was_killed_is_adopted(self):
        first = self.begin("echo ready; read line")
        first.kill()
        first.wait(TIMEOUT)
        self.assertTrue(self.answers())
        self.shell("true")
        client.until(lambda: not self.answers(), "the adopted proxy stops")

    def test_a_proxy_that_dies_is_told(self):
        process = self.begin('echo ready; kill -KILL "$(cut -d " " -f 1 "$1/run.started")"; read line', self.opid.data)
        self.assertIn("the proxy has ended", process.stderr.readline())
        process.stdin.write("\n")
        self.assertEqual(0, process.wait(TIMEOUT))


if __name__ == "__main__":
    unittest.main()
