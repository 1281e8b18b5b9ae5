"""sshd on a port of the loopback address with keys of its own, and a program ssh that knows them, as in
tests/app/bridge/ssh_test.cpp. It admits no user whose account is locked."""
import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
START = 60  # seconds until a server that does not listen is a failure


def missing():
    """The programs that are missing, in words; empty if there is a server with its client."""
    lacks = [package for package, program in (("openssh-server", SSHD), ("openssh-client", shutil.which("ssh")))
             if not program]
    return " and ".join(lacks) + " must be installed" if lacks else ""


class SshServer:
    """A server for this user, on which `attnscope` is the given program."""

    def __init__(self, program):
        self.home = tempfile.TemporaryDirectory(prefix="attnscope-ssh-")
        self.path_before = os.environ["PATH"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.configure(pathlib.Path(self.home.name), os.path.abspath(program))
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", 0o755, exist_ok=True)  # which it demands of an administrator
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", self.home.name + "/sshd_config"],
                                        stderr=subprocess.DEVNULL)
        end = time.monotonic() + START
        while not self.listens():
            if time.monotonic() > end:
                raise TimeoutError("sshd does not listen")
            time.sleep(0.02)

    def configure(self, folder, program):
        there, here = folder / "there", folder / "here"
        there.mkdir()
        here.mkdir()
        (there / "attnscope").symlink_to(program)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1:{self.port}\nHostKey {folder}/host\n"
            f"AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\nPidFile none\n"
            f"SetEnv PATH={there}:/usr/bin:/bin\n")
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {(folder / 'host.pub').read_text()}")
        (folder / "ssh_config").write_text(
            "BatchMode yes\nIdentityAgent none\nIdentitiesOnly yes\nGlobalKnownHostsFile /dev/null\n"
            f"UserKnownHostsFile {folder}/known\nIdentityFile {folder}/user\n")
        ssh = here / "ssh"
        ssh.write_text(f"#!/bin/sh\nexec {shutil.which('ssh')} -F {folder}/ssh_config \"$@\"\n")
        ssh.chmod(0o700)
        os.environ["PATH"] = f"{here}:{self.path_before}"

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def address(self, file):
        """The address of a file on the server, as attnscope gui takes it."""
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{os.path.abspath(file)}"

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.environ["PATH"] = self.path_before
        self.home.cleanup()
