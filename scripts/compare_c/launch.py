"""Starts two ranks under a launcher, each start with a timeout."""

import os
import shlex
import signal
import subprocess

SECONDS_TO_END = 5


class Failed(Exception):
    """A build or a start that gave no result; the text says what and why."""


class Launcher:
    """`MPIRUN ARGUMENTS -n 2 COMMAND`, the same for every program."""

    def __init__(self, mpirun, arguments, timeout):
        self.prefix = [mpirun, *arguments, "-n", "2"]
        self.timeout = timeout
        self.environment = environment_of_user()

    def run(self, command):
        """Standard output of the command on two ranks."""
        return run([*self.prefix, *command], self.timeout, self.environment)


def environment_of_user():
    """Open MPI refuses root unless both variables are set; no other user needs them."""
    if os.geteuid() != 0:
        return None
    return os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(command, timeout, environment=None):
    """Standard output of a command that ends in time with exit code 0."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )
    try:
        output, messages = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        end(process)
        raise Failed(f"{shlex.join(command)}: no end within {timeout:g} s") from None
    except BaseException:
        end(process)
        raise
    if process.returncode != 0:
        raise Failed(f"{shlex.join(command)}: exit code {process.returncode}: {brief(messages)}")
    return output


def end(process):
    """Ends a launcher, which ends its ranks; then whatever is left of its group."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def brief(messages):
    """The first lines that say something, each once."""
    lines = dict.fromkeys(line.strip() for line in messages.splitlines())
    return " | ".join([line for line in lines if line.strip("-=*")][:4]) or "no message"


def build(mpicc, source, program):
    """Compiles the C program with the compiler wrapper of an MPI."""
    run([mpicc, "-std=c99", "-O2", "-Wall", "-Wextra", str(source), "-o", str(program)], timeout=120)
