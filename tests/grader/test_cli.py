"""The list of commands: each is there, and only the one that is asked for is imported."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader import cli, commands

SHARED = {"common"}
"""Modules of the folder that are no command."""


def test_the_list_and_the_folder_have_the_same_commands() -> None:
    modules = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    assert modules - SHARED == set(cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_a_command_has_arguments_and_can_run(name: str) -> None:
    module = importlib.import_module(f"grader.commands.{name}")
    module.add_arguments(argparse.ArgumentParser())
    assert callable(module.run)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_a_command_says_what_it_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert cli.COMMANDS[name] in " ".join(capsys.readouterr().out.split())


def test_help_names_every_command_and_imports_none() -> None:
    program = (
        "import sys; from grader import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith(('grader.', 'nbgrader')) and m != 'grader.cli'])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert set(cli.COMMANDS) <= set(shown.split())
    assert shown.rstrip().endswith("[]")


@pytest.mark.parametrize("argv", [[], ["unknown"], ["--unknown"]])
def test_what_is_no_command_is_a_usage_error(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(argv)
    assert ended.value.code == 2
    assert "usage: python -m grader" in capsys.readouterr().err


def test_a_folder_without_a_course_is_a_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["autograde", "--root", str(tmp_path)]) == 1
    assert "nbgrader_config.py" in capsys.readouterr().err
