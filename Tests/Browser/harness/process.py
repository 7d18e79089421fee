# SPDX-License-Identifier: MIT
"""Programs that run to their end, programs that run beside the tests, and waiting for what must come true."""

import os
import signal
import subprocess
import time


# Seconds that anything may take that takes a moment: far longer than a busy machine needs.
PATIENCE = 300


class NeverTrue(AssertionError):
    """A condition did not come true in time."""


def eventually(sentence, condition, limit=PATIENCE, pause=0.02, detail=None):
    """Asks again and again until `condition()` gives something true, and gives that."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise NeverTrue(f"never so within {limit} s: {sentence}" + (f"; {detail()}" if detail else ""))
        time.sleep(pause)


def run(words, check=True, input=None, timeout=2 * PATIENCE):
    """Runs a program and gives its result with its outputs as text."""
    result = subprocess.run(words, input=input, capture_output=True, text=True, timeout=timeout)
    if check and result.returncode != 0:
        raise AssertionError(f"{' '.join(words)} ended with {result.returncode}: {result.stderr or result.stdout}")
    return result


class Child:
    """A program that runs beside the tests; what it writes goes to files."""

    def __init__(self, words, output, environment=None):
        self.words, self.output = words, output
        # Appended to: a program that is started again goes on in the same file.
        self.out = open(output + ".out", "ab")
        self.errors = open(output + ".err", "ab")
        self.begin = self.out.tell()
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.errors,
            env=dict(os.environ, **(environment or {})))

    @property
    def pid(self):
        return self.process.pid

    def ended(self):
        return self.process.poll() is not None

    def written(self):
        """What this run has written to standard output."""
        with open(self.output + ".out", "rb") as file:
            file.seek(self.begin)
            return file.read().decode(errors="replace")

    def last_words(self):
        with open(self.output + ".err", "rb") as file:
            return file.read().decode(errors="replace")[-3000:]

    def stop(self, limit=PATIENCE):
        """Asks the program to end, and gives its status and the seconds that it took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.kill()
            raise NeverTrue(f"{self.words[0]} did not end within {limit} s: {self.last_words()}") from None
        self.out.close()
        self.errors.close()
        return status, time.monotonic() - begin

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def resident_kibibytes(self):
        with open(f"/proc/{self.pid}/status") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        raise AssertionError("the process has no size")
