"""Processes that answer requests (eager_worker.py), each with a time limit: one that is late is ended and started anew."""
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "eager_worker.py")


class Late(Exception):
    """No answer in time, or the process ended."""

    def __init__(self, text, seconds=0.0):
        super().__init__(text)
        self.seconds = seconds  # 0: it ended by itself


def find_python(wanted):
    """The first Python that imports torch, or None."""
    for python in [wanted] if wanted else [sys.executable, "python3", "/usr/bin/python3"]:
        try:
            done = subprocess.run([python, "-c", "import torch"], capture_output=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return python
    return None


class Worker:
    """One process at a time, started when it is needed. Not thread-safe."""

    def __init__(self, python, device, program=WORKER):
        self.command = [python, "-B", program, device]
        self.process = self.said = None
        self.pending = b""
        self.deadline = self.seconds = 0.0

    def send(self, request, seconds):
        """`seconds` for the answer, the start of a process included."""
        if self.process is None or self.process.poll() is not None:
            self.stop()
            # One compiles while others do: few threads each.
            environment = {"TORCHINDUCTOR_COMPILE_THREADS": "4", "PYTHONWARNINGS": "ignore", **os.environ}
            self.said = tempfile.TemporaryFile()
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
                                            env=environment, start_new_session=True)
        self.seconds, self.deadline = seconds, time.monotonic() + seconds
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() says so

    def answer(self):
        pipe = self.process.stdout.fileno()
        while b"\n" not in self.pending:
            # An answer that came in time counts, however late it is read.
            left = max(0.0, self.deadline - time.monotonic())
            if not select.select([pipe], [], [], left)[0]:
                self.stop()
                raise Late("no answer in %.0f s" % self.seconds, self.seconds)
            got = os.read(pipe, 1 << 16)
            if not got:
                code = self.process.wait()
                how = signal.Signals(-code).name if code < 0 else "exit %d" % code
                last = self._last_line()
                self.stop()
                raise Late("the process ended: %s; %s" % (how, last))
            self.pending += got
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def ask(self, request, seconds):
        self.send(request, seconds)
        return self.answer()

    def _last_line(self):
        self.said.seek(max(0, self.said.seek(0, os.SEEK_END) - 2000))
        lines = self.said.read().decode(errors="replace").split("\n")
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "it said nothing")

    def stop(self):
        """Ends the process and those that it started."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.said.close()
        self.process, self.pending = None, b""
