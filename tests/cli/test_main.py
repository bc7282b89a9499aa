"""The command as it is installed, in processes of its own."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

import pyknnmi
from pyknnmi.cli import _SECTIONS, main
from pyknnmi.cli.common import time_left
from pyknnmi.data.files import write_dataset

COMMAND = [sys.executable, "-P", "-m", "pyknnmi"]


def run(*arguments):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def test_version_and_help():
    assert run("--version").stdout.strip().endswith(importlib.metadata.version("pyknnmi"))
    shown = run("-h").stdout
    for command in ("components", "demo", "describe", "explain", "learn", "plugins", "simulate", "test"):
        assert f"  {command}" in shown


def test_the_script_is_installed():
    (script,) = (e for e in importlib.metadata.entry_points(group="console_scripts") if e.name == "pyknnmi")
    assert script.load() is pyknnmi.cli.main


def test_the_commands_work_in_any_thread():
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(CliRunner().invoke, main, ["components"]).result().exit_code == 0


def test_simulate_then_learn(tmp_path):
    path = tmp_path / "data.csv"
    assert run("simulate", "small-network", "--n", 300, "--linear", "--seed", 5, "--out", path).returncode == 0
    learned = run("learn", path, "--spec", "iamb+fisher-z", "--out", tmp_path / "out")
    assert learned.returncode == 0
    assert learned.stderr == "", "no progress where there is no terminal"
    assert (tmp_path / "out" / "graph.graphml").exists()


def test_an_error_has_no_traceback(tmp_path):
    result = run("learn", tmp_path / "none.csv")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: cannot read '")
    assert len(result.stderr.splitlines()) == 1


def test_a_closed_pipe_is_no_traceback(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [*COMMAND, "components"], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    os.close(writer)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_the_output_is_no_traceback(unbuffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*COMMAND, "components"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
            env=environment,
        )
    assert result.returncode == 2
    assert result.stderr == "Error: cannot write: No space left on device\n"


def test_commands_of_plugins(tmp_path):
    """One plugin that is sound, of which one command takes a name, and one that fails."""
    (tmp_path / "two.py").write_text(
        "import click, types, pyknnmi\n"
        "def command(name):\n"
        "    return click.Command(name, help='Theirs.', callback=lambda: click.echo('theirs'))\n"
        "@pyknnmi.components.hookimpl\n"
        "def pyknnmi_commands(group):\n"
        "    group.add_command(command('extra'))\n"
        "    group.add_command(command('demo'))\n"
        "bad = types.SimpleNamespace(pyknnmi_commands=pyknnmi.components.hookimpl(lambda group: 1 / 0))\n"
    )
    info = tmp_path / "two-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: two\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pyknnmi]\na-bad-one = two:bad\nsound = two\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "PYKNNMI_PLUGINS": "a-bad-one,sound"}

    def shown(argument):
        return subprocess.run(
            [*COMMAND, argument], env=environment, capture_output=True, text=True, timeout=60, check=True
        )

    assert shown("--help").stderr.splitlines() == [
        "Warning: the commands of plugin 'a-bad-one' were skipped: ZeroDivisionError: division by zero",
        "Warning: the command 'demo' of plugin 'sound' was skipped: there is one of this name",
    ]
    assert shown("--help").stdout.count("Theirs.") == 1
    assert shown("extra").stdout == "theirs\n"


@pytest.fixture
def long_run(tmp_path):
    data, _ = pyknnmi.simulate.small_network(3000, seed=1)
    write_dataset(data, tmp_path / "data.csv")
    return ["learn", str(tmp_path / "data.csv"), "--spec", "iamb+knn-cmi(permutations=100,screen=none)"]


def test_progress_on_a_terminal_and_ctrl_c(long_run, interruptible):
    """The bar appears with the first answers; then an interrupt ends the command soon, and in a line."""
    terminal, end = pty.openpty()
    child = subprocess.Popen([*COMMAND, *long_run], stdout=subprocess.PIPE, stderr=end, text=True)
    os.close(end)
    try:
        shown = b""
        while b"tests" not in shown:
            shown += os.read(terminal, 1000)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
        try:
            while more := os.read(terminal, 1000):
                shown += more
        except OSError:  # Linux says so when the other end is closed
            pass
    finally:
        child.kill()
        child.wait()
        os.close(terminal)
    assert b"/7 columns" in shown
    assert b"Aborted!" in shown
    assert b"Traceback" not in shown
    assert out == ""
    assert child.returncode == 1


def started_by(pid):
    """The ids of the processes that a process started, without joblib's watchman of resources."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return [child for child in children if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_sigterm_ends_the_workers_too(long_run):
    command = [*COMMAND, *long_run, "--jobs", "2"]
    command = [argument.replace("permutations=100", "permutations=100000") for argument in command]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        until = time.monotonic() + 30
        while len(workers := started_by(child.pid)) < 2:
            assert time.monotonic() < until
            time.sleep(0.1)
        time.sleep(1)  # they have begun to work
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=20)
        assert child.returncode == 128 + signal.SIGTERM
        assert (out, err) == (b"", b"")
        until = time.monotonic() + 30
        while left := [worker for worker in workers if Path(f"/proc/{worker}").exists()]:
            assert time.monotonic() < until, left
            time.sleep(0.1)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def test_help_says_of_each_command_what_the_command_says_of_itself():
    context = main.make_context("pyknnmi", ["--help"], resilient_parsing=True)
    for entries in _SECTIONS.values():
        for name, _, text in entries:
            said = main.get_command(context, name).help.splitlines()[0]
            assert said.split(" ")[:1] == text.split(" ")[:1], f"{name}: {said} / {text}"


def test_help_imports_neither_numpy_nor_the_front_door():
    code = "import sys; from click.testing import CliRunner; from pyknnmi.cli import main; "
    code += "CliRunner().invoke(main, ['--help']); sys.exit('numpy' in sys.modules or 'joblib' in sys.modules)"
    environment = {**os.environ, "PYKNNMI_PLUGINS": ""}
    plugins = importlib.metadata.entry_points(group="pyknnmi")
    installed = any(not plugin.value.startswith("pyknnmi.") for plugin in plugins)
    done = subprocess.run([sys.executable, "-P", "-c", code], env=environment, timeout=60, check=False)
    assert done.returncode == installed, "without plugins there is nothing to import"


@pytest.mark.parametrize(("shell", "word"), [("zsh", "1"), ("fish", "sim")])
def test_completion_is_printed_and_completes(shell, word):
    assert "_PYKNNMI_COMPLETE" in run("completion", shell).stdout
    words = {"_PYKNNMI_COMPLETE": f"{shell}_complete", "COMP_WORDS": "pyknnmi sim", "COMP_CWORD": word}
    script = Path(sys.executable).with_name("pyknnmi")
    environment = {**os.environ, **words}
    done = subprocess.run([script], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "simulate" in done.stdout


@pytest.mark.parametrize("closed", ["2>&-", "<&-", ">/dev/full 2>&-"])
def test_closed_streams_are_no_traceback(tmp_path, closed):
    data, _ = pyknnmi.simulate.small_network(60, seed=1)
    write_dataset(data, tmp_path / "data.csv")
    words = shlex.join([*COMMAND, "learn", str(tmp_path / "data.csv"), "--spec", "iamb+fisher-z"])
    done = subprocess.run(f"{words} {closed}", shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == ("full" in closed)
    assert ("edges between" in done.stdout or "edge between" in done.stdout) == ("full" not in closed)
    assert done.stderr == ""


def test_odd_paths_are_one_line(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    data, _ = pyknnmi.simulate.small_network(60, seed=1)
    write_dataset(data, tmp_path / "data.csv")
    learn = ["learn", str(tmp_path / "data.csv"), "--spec", "iamb+fisher-z"]
    for given in (
        ["learn", str(tmp_path / "loop")],
        ["learn", "a\0b"],
        ["learn", "\udcff"],
        [*learn, "--out", str(tmp_path / "loop")],
        [*learn, "--report", str(tmp_path / "loop")],
        [*learn, "--store", str(tmp_path / "loop")],
        [*learn, "--store", "a\0b"],
        ["simulate", "small-network", "--n", "9", "--out", str(tmp_path / "loop")],
    ):
        outcome = CliRunner().invoke(main, given)
        assert (outcome.exit_code, outcome.stderr.count("\n")) == (2, 1), (given, outcome.output, outcome.exception)


def test_a_path_of_bytes_that_are_no_text_is_written_so_that_a_shell_takes_it(tmp_path):
    name = b"it's \xff.csv"
    data, _ = pyknnmi.simulate.small_network(60, seed=1)
    write_dataset(data, tmp_path / os.fsdecode(name))
    path = str(tmp_path / os.fsdecode(name))
    outcome = CliRunner().invoke(main, ["audit", path, "--json", "--missing-marks", "\udcff"])
    command = json.loads(outcome.output)["command"]
    words = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True).stdout
    assert words.split(b"\0")[:3] == [b"pyknnmi", b"learn", os.fsencode(path)]
    learn = ["learn", path, "--spec", "iamb+fisher-z", "--out", str(tmp_path), "--report", str(tmp_path / "r.html")]
    assert CliRunner().invoke(main, learn).exit_code == 0
    assert json.loads((tmp_path / "provenance.json").read_text(encoding="utf-8"))["data"].endswith(r"it's \udcff.csv")


def test_the_time_left_is_what_was_needed_for_each_column_so_far():
    assert time_left(0, 7, 30.4) == "30 s"  # the time taken
    assert time_left(7, 7, 30.4) == "30 s"
    assert time_left(2, 10, 3.0) == "up to 12 s left"
    assert time_left(1, 100, 2.0) == "up to 3 min left"  # 198 s
    assert time_left(1, 200, 100.0) == "up to 6 h left"  # 19,900 s
