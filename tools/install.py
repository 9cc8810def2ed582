"""Makes the virtual environment that every `make` target runs in, and brings it up to date.

It owns the folder `.venv` and nothing else. A stamp in it holds a digest of what was installed, so a second
run does nothing, and a changed lock file, folder or Python is noticed. It uses the standard library only,
shows progress, and ends with one line that says what went wrong and what to do.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
NETWORK_SIGNS = (
    "NewConnectionError",
    "NameResolutionError",
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "Max retries exceeded",
    "Connection aborted",
    "timed out",
    "ConnectTimeoutError",
    "ProxyError",
    "SSLError",
)
# JupyterLab asks on its first start whether it may fetch news: a question and a request nobody wants here.
PAGE_CONFIG = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


class Failure(Exception):
    """Something is missing; the message is the one line the user sees."""


class Progress:
    """One line that is rewritten on a terminal; now and then a plain line elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stdout.isatty()

    def show(self, text: str, *, keep: bool = False) -> None:
        """Show `text`; `keep` makes it a line of its own also where nothing can be rewritten."""
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            print("\r\033[K" + text[:width], end="\n" if keep else "", flush=True)
        elif keep:
            print(text, flush=True)


def pinned_names() -> list[str]:
    """The `name==version` lines of the lock file."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def stamp_for() -> str:
    """Digest of all that decides what is in the environment, but for the index torch came from."""
    digest = hashlib.sha256()
    for path in (LOCK, ROOT / "pyproject.toml", Path(__file__)):
        digest.update(path.read_bytes())
    # Scripts in a virtual environment hold its absolute path: a copied folder needs a new one.
    for text in (str(ROOT), ".".join(map(str, sys.version_info[:2]))):
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()


@contextlib.contextmanager
def one_at_a_time(venv: Path) -> Iterator[None]:
    """Two `make` commands at once: the second waits for the first."""
    with open(venv.with_name(venv.name + ".lock"), "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another install in this folder ...", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def works(venv: Path) -> bool:
    """True where the environment's Python starts and is the one this folder and this Python made."""
    python = venv / "bin" / "python"
    code = "import pip, sys; print(sys.prefix, *sys.version_info[:2])"
    try:
        done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return False
    expected = f"{venv} {sys.version_info[0]} {sys.version_info[1]}"
    pip_script = venv / "bin" / "pip"
    # The interpreter's path stands in the first line, or in the second where it holds a space.
    moved = pip_script.exists() and str(venv) not in pip_script.read_text(errors="replace")[:600]
    return done.returncode == 0 and done.stdout.strip() == expected and not moved


def make_venv(venv: Path) -> None:
    """Create `venv`, replacing one that does not work here."""
    if works(venv):
        return
    command = [sys.executable, "-m", "venv", "--clear", str(venv)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        first = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise Failure(f"could not create {venv.name}: {first[-1]}")


def reason_of(log: str) -> str:
    """The likely cause of a failed pip run, in a few words."""
    if "No space left on device" in log:
        return "no space left on the disk"
    errors = [line.strip() for line in log.splitlines() if line.strip().startswith("ERROR:")]
    if any(sign in log for sign in NETWORK_SIGNS):
        return "the package index cannot be reached; check the network and run the command again"
    return errors[0].removeprefix("ERROR: ") if errors else "pip stopped without a message"


def run_pip(venv: Path, stage: str, arguments: list[str], progress: Progress, total: int = 0) -> None:
    """Run pip with `arguments`, turn its output into progress, keep all of it in a log file."""
    log_path = venv / "install.log"
    command = [str(venv / "bin" / "python"), "-m", "pip", "install", *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PIP_TARGET")}
    environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    lines: list[str] = []
    with open(log_path, "a", encoding="utf-8") as log:
        log.write("$ " + " ".join(command) + "\n")
        pip = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
        )
        tell = Teller(stage, total, progress)
        for line in pip.stdout or ():
            if not line.startswith("Progress "):
                lines.append(line)
                log.write(line)
            tell.line(line)
        code = pip.wait()
    if code != 0:
        shown = log_path.relative_to(ROOT) if log_path.is_relative_to(ROOT) else log_path
        raise Failure(f"{stage} failed: {reason_of(''.join(lines))} (log: {shown})")


def package_of(line: str) -> str:
    """The package that a line of pip's output starts with, or "" for a line about something else."""
    for opening in ("Collecting ", "Requirement already satisfied: "):
        if line.startswith(opening):
            return re.split(r"[=<>~!\[ (;]", line.removeprefix(opening))[0].lower()
    if line.startswith("Processing "):
        return line.split()[1].rsplit("/", 1)[-1].split("-", maxsplit=1)[0].lower().replace("_", "-")
    return ""


class Teller:
    """Turns pip's lines into progress. Holds the name and size of the file being fetched."""

    def __init__(self, stage: str, total: int, progress: Progress) -> None:
        self._stage, self._total, self._progress = stage, total, progress
        self._seen: set[str] = set()
        self._file = ""

    def line(self, line: str) -> None:
        """Take one line of pip's output."""
        words = line.split()
        name = package_of(line)
        if name:
            self._seen.add(name)
            every = self._total and len(self._seen) % 25 == 0
            self._progress.show(f"{self._head()} {name}", keep=bool(every))
        elif line.lstrip().startswith("Downloading ") and not words[1].endswith(".metadata"):
            self._file = " ".join(words[1:]).rsplit("/", 1)[-1]
            big = " MB)" in self._file and float(words[2].strip("(")) >= 10
            self._progress.show(f"{self._head()} downloading {self._file}", keep=big)
        elif line.startswith("Progress ") and len(words) == 4 and words[3].isdigit() and int(words[3]):
            done, size = int(words[1]), int(words[3])
            self._progress.show(f"{self._head()} downloading {self._file} {100 * done // size} %")
        elif line.startswith("Installing collected packages"):
            count = line.count(",") + 1
            self._progress.show(f"{self._stage}: unpacking ({count}) ...", keep=count > 1)

    def _head(self) -> str:
        if not self._total:
            return f"{self._stage}:"
        return f"{self._stage}: [{min(len(self._seen), self._total)}/{self._total}]"


def install(venv: Path, torch_index: str, progress: Progress) -> None:
    """Bring `venv` to the state that the lock file describes."""
    pins = pinned_names()
    pick = {pin.split("==")[0]: pin for pin in pins}
    progress.show(f"making {venv.name} with Python {sys.version.split()[0]} ...", keep=True)
    make_venv(venv)
    (venv / "install.log").unlink(missing_ok=True)
    run_pip(venv, "installing pip", ["--progress-bar", "off", pick["pip"]], progress)
    bar = ["--progress-bar", "raw"]
    if torch_index:
        # Only torch comes from there; its dependencies are pinned and follow with the rest.
        # A torch from another index has the same version, so pip must be told to replace it.
        options = [*bar, "--no-deps", "--force-reinstall", "--index-url", torch_index, pick["torch"]]
        run_pip(venv, "installing torch", options, progress)
    run_pip(venv, "installing packages", [*bar, "-r", str(LOCK)], progress, total=len(pins))
    editable = ["--progress-bar", "off", "--no-deps", "--no-build-isolation", "-e", str(ROOT)]
    run_pip(venv, "installing inference-kit", editable, progress)
    page_config = venv / "etc" / "jupyter" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True, exist_ok=True)
    page_config.write_text(json.dumps(PAGE_CONFIG, indent=2) + "\n", encoding="utf-8")


def main() -> int:
    """Entry point; the exit code is 1 after a failure."""
    parser = argparse.ArgumentParser(description="Create or update the virtual environment.")
    parser.add_argument("--venv", default=".venv", help="folder of the environment, below the repository")
    parser.add_argument("--torch-index", default="", help="package index to take torch from")
    options = parser.parse_args()
    venv = (ROOT / options.venv).resolve()
    if Path(sys.prefix).resolve() == venv:
        # Run from inside the environment (it was activated): its own base Python must do the work.
        base = getattr(sys, "_base_executable", sys.executable)
        os.execv(base, [base, *sys.argv])
    progress = Progress()
    try:
        with one_at_a_time(venv):
            stamp = venv / "installed.stamp"
            digest, _, index = (stamp.read_text(encoding="utf-8") if stamp.exists() else "").partition(" ")
            same_torch = options.torch_index in ("", index)
            if not (digest == stamp_for() and same_torch and works(venv)):
                install(venv, options.torch_index, progress)
                stamp.write_text(f"{stamp_for()} {options.torch_index}", encoding="utf-8")
                progress.show(f"{venv.name} is ready", keep=True)
    except Failure as failure:
        progress.show("", keep=sys.stdout.isatty())
        print(f"inference-kit: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninference-kit: stopped; run the command again to go on", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
