"""Formgrader in a running Jupyter server: it shows the course, and autogrades with our steps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.demo import nbgrader
from grader.sandbox import REPOSITORY
from tests.browser.jupyter import START_LIMIT_S, free_port, wait_until
from tests.grader import fake_lab
from tests.grader.fake_lab import ASSIGNMENT, FULL

pytestmark = pytest.mark.slow
TOKEN = "formgrader-test"


class Server:
    """A Jupyter server at a course root."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str) -> str:
        return self._open(urllib.request.Request(f"{self.url}/{path}"))

    def post(self, path: str) -> str:
        return self._open(urllib.request.Request(f"{self.url}/{path}", method="POST", data=b""))

    def json(self, path: str) -> Any:
        return json.loads(self.get(path))

    def answers(self) -> bool:
        try:
            return bool(self.get("api/status"))
        except (urllib.error.URLError, ConnectionError):
            return False

    def _open(self, request: urllib.request.Request) -> str:
        request.add_header("Authorization", f"token {TOKEN}")
        with urllib.request.urlopen(request, timeout=120) as reply:
            return str(reply.read().decode())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that has started; it is ended after the module."""
    root = fake_lab.make_course(tmp_path_factory.mktemp("formgrader"))
    nbgrader(root, "generate_assignment", ASSIGNMENT)
    reflection = fake_lab.submission()
    fake_lab.find_cell(
        reflection, "lab90-reflection"
    ).source = "<script src='http://evil.example/x.js'></script>"
    fake_lab.submit(root, "ada", reflection)
    port = free_port()
    bin_folder = Path(sys.executable).parent
    runtime = tmp_path_factory.mktemp("runtime")
    process = subprocess.Popen(
        [
            str(bin_folder / "jupyter-lab"),
            "--no-browser",
            "--allow-root",
            f"--ServerApp.root_dir={root}",
            f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={TOKEN}",
        ],
        cwd=root,
        env={
            **os.environ,
            "PATH": f"{bin_folder}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONPATH": str(REPOSITORY),
            "JUPYTER_RUNTIME_DIR": str(runtime),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    running = Server(f"http://127.0.0.1:{port}")
    try:
        assert wait_until(running.answers, START_LIMIT_S, threading.Event()), (
            "the Jupyter server did not start"
        )
        yield running
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_formgrader_shows_the_course(server: Server) -> None:
    found = {item["name"]: item for item in server.json("formgrader/api/assignments")}
    assert found[ASSIGNMENT]["max_code_score"] == FULL
    assert "Manage Assignments" in server.get("formgrader/manage_assignments")


def test_autograde_in_formgrader_gives_the_judged_score_and_a_safe_page(server: Server) -> None:
    reply = json.loads(server.post(f"formgrader/api/submission/{ASSIGNMENT}/ada/autograde"))
    assert reply["success"], reply
    submission = server.json(f"formgrader/api/submission/{ASSIGNMENT}/ada")
    assert submission["code_score"] == FULL
    notebook_id = server.json(f"formgrader/api/submitted_notebooks/{ASSIGNMENT}/{ASSIGNMENT}")[0]["id"]
    page = server.get(f"formgrader/submissions/{notebook_id}/")
    assert "5 of 5 points" in page
    assert "<script src='http://evil" not in page
    assert '<script src="http://evil' not in page
