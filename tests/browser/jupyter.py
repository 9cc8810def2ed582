"""A JupyterLab server over a copy of the repository, with no file of its own outside one folder."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Self

from inference_kit.clock import MonotonicClock
from tests.house.tree import ROOT

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".venv.lock", "__pycache__", ".*_cache", ".hypothesis", "shared"
)
# With windowing the page holds only the cells in view; the tests want to see all of them.
TRACKER = {"windowingMode": "none"}
NO_NEWS = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
START_LIMIT_S = 90.0


class ServerDied(RuntimeError):
    """The server ended, or never answered; the message holds the end of its log."""


def free_port() -> int:
    """A port that was free a moment ago on the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], bool], limit_s: float, tick: threading.Event) -> bool:
    """Ask again until `condition` holds or `limit_s` has passed; `tick` is only waited on, never set."""
    clock = MonotonicClock()
    end = clock.now() + limit_s
    while not condition():
        if clock.now() >= end:
            return False
        tick.wait(0.1)
    return True


class JupyterLab:
    """A server with no token on the loopback address. `tree` is its root: a copy of the repository."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.url = f"http://127.0.0.1:{free_port()}"
        self._folder = folder
        self._log = folder / "jupyter.log"
        shutil.copytree(ROOT, self.tree, ignore=LEFT_OUT)

    def _environment(self) -> dict[str, str]:
        names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR")
        places = {
            name: str(self._folder / name.lower())
            for name in (*names, "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
        }
        self._write(Path(places["JUPYTER_CONFIG_DIR"]) / "labconfig" / "page_config.json", NO_NEWS)
        settings = Path(places["JUPYTERLAB_SETTINGS_DIR"]) / "@jupyterlab" / "notebook-extension"
        self._write(settings / "tracker.jupyterlab-settings", TRACKER)
        path = str(Path(sys.executable).parent) + os.pathsep + os.environ.get("PATH", "")
        own = {
            "PATH": path,
            "PYTHONPATH": str(self.tree),
            "INFERENCE_KIT_MODEL": "tiny",
            "OMP_NUM_THREADS": "1",
        }
        return dict(os.environ) | places | own

    @staticmethod
    def _write(path: Path, content: dict[str, object]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")

    def __enter__(self) -> Self:
        port = self.url.rsplit(":", 1)[-1]
        options = [
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={port}",
            "--IdentityProvider.token=",
        ]
        options += [
            f"--ServerApp.root_dir={self.tree}",
            "--ServerApp.port_retries=0",
            "--expose-app-in-browser",
        ]
        command = [sys.executable, "-m", "jupyterlab", *options]
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                command, cwd=self.tree, env=self._environment(), stdout=log, stderr=subprocess.STDOUT
            )
        if not wait_until(self._answers, START_LIMIT_S, threading.Event()):
            self.__exit__()
            raise ServerDied(self._log.read_text(errors="replace")[-2000:])
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        if self._process.poll() is not None:
            raise ServerDied(self._log.read_text(errors="replace")[-2000:])
        try:
            return bool(self.get("/api/status"))
        except (urllib.error.URLError, ConnectionError):
            return False

    def get(self, path: str) -> str:
        """Body of a GET on the server. Raises `urllib.error.HTTPError` for an error status."""
        with urllib.request.urlopen(self.url + path, timeout=30) as response:
            return response.read().decode("utf-8")
