"""Reading what learners handed in: folders, archives and single notebooks, whatever state they are in.

Owns the way from a source to the bytes of each notebook in it. Nothing is unpacked to the disk
and no link is followed, so the name of a member can lead nowhere. Invariant: one bad file or
archive is refused with a reason, and the rest goes on.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from lzma import LZMAError
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from .submission import MAX_FILE_BYTES

NOTEBOOK = ".ipynb"
ARCHIVE = ".zip"
MAX_DEPTH = 2
"""An archive in an archive is opened; one in that is not."""
MAX_MEMBERS = 50_000
MAX_UNPACKED_BYTES = 4 << 30
"""What the notebooks of one source may hold together."""
UTF8_NAME = 0x800
ENCRYPTED = 0x1
UNIX_TIMES = 0x5455
JUNK = {"__MACOSX", ".ipynb_checkpoints", ".git"}
TIMESTAMP = "timestamp.txt"
MAX_TIMESTAMP_BYTES = 200
UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    struct.error,
)


@dataclass(frozen=True)
class Found:
    """One notebook: where it stood, what it holds, when it was last written."""

    parts: tuple[str, ...]
    """Names from the source down to the file; an archive is one of them."""
    data: bytes
    at: datetime | None
    timestamp: str = ""
    """Text of the `timestamp.txt` beside it."""
    in_archive: bool = False

    @property
    def name(self) -> str:
        """Where it stood, for people."""
        return "/".join(self.parts)


@dataclass(frozen=True)
class Refused:
    """A file or archive that was not read, and why."""

    name: str
    reason: str


@dataclass
class Budget:
    """Bytes that may still be unpacked."""

    left: int = field(default_factory=lambda: MAX_UNPACKED_BYTES)


def read_source(source: Path) -> Iterator[Found | Refused]:
    """Every notebook below a folder, in an archive, or the file itself."""
    budget = Budget()
    if source.is_dir():
        yield from _read_folder(source, budget)
    elif source.exists() or source.is_symlink():
        yield from _read_file(source, (source.name,), budget)
    else:
        yield Refused(str(source), "there is no such file or folder")


def _read_folder(top: Path, budget: Budget) -> Iterator[Found | Refused]:
    for parent, folders, files in os.walk(top):
        for name in [name for name in folders if (Path(parent) / name).is_symlink()]:
            yield Refused(str(Path(parent) / name), "a link to a folder is not followed")
        folders[:] = sorted(name for name in folders if name not in JUNK)
        for name in sorted(files):
            path = Path(parent) / name
            yield from _read_file(path, (top.name, *path.relative_to(top).parts), budget)


def _read_file(path: Path, parts: tuple[str, ...], budget: Budget) -> Iterator[Found | Refused]:
    """A notebook or an archive. Other files are passed over: grading needs none of them."""
    suffix = path.suffix.lower()
    if suffix not in (NOTEBOOK, ARCHIVE) or path.name.startswith("._"):
        return
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            about = os.fstat(fd)
            if not stat.S_ISREG(about.st_mode):
                yield Refused(str(path), "not a regular file")
            elif suffix == ARCHIVE:
                yield from _read_archive(file, parts, budget)
            elif about.st_size > MAX_FILE_BYTES:
                yield Refused(str(path), f"larger than {MAX_FILE_BYTES >> 20} MB")
            else:
                at = datetime.fromtimestamp(about.st_mtime, UTC)
                yield Found(parts, file.read(MAX_FILE_BYTES), at, _timestamp_beside(path))
    except OSError as error:
        reason = "a link is not followed" if path.is_symlink() else f"cannot be read ({error.strerror})"
        yield Refused(str(path), reason)


def _timestamp_beside(path: Path) -> str:
    beside = path.with_name(TIMESTAMP)
    if beside.is_symlink() or not beside.is_file():
        return ""
    with beside.open("rb") as file:
        return file.read(MAX_TIMESTAMP_BYTES).decode("utf-8", "replace").strip()


# --- archives ---------------------------------------------------------------------------------------


def _read_archive(
    file: IO[bytes], parts: tuple[str, ...], budget: Budget, depth: int = 1
) -> Iterator[Found | Refused]:
    name = "/".join(parts)
    if depth > MAX_DEPTH:
        yield Refused(name, "an archive in an archive in an archive is not opened")
        return
    try:
        archive = zipfile.ZipFile(file)
    except UNREADABLE as error:
        yield Refused(name, f"not a zip archive, or damaged ({error})")
        return
    with archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            yield Refused(name, f"more than {MAX_MEMBERS} members")
            return
        times = {member_name(member): member for member in members}
        seen: set[str] = set()
        for member in members:
            inside = member_name(member)
            suffix = PurePosixPath(inside).suffix.lower()
            if suffix not in (NOTEBOOK, ARCHIVE) or member.is_dir() or _is_junk(inside):
                continue
            reason = why_refused(member, inside, seen)
            seen.add(inside.casefold())
            if reason:
                yield Refused(f"{name}/{inside}", reason)
                continue
            yield from _read_member(archive, member, (*parts, *inside.split("/")), times, budget, depth)


def _read_member(
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    parts: tuple[str, ...],
    members: dict[str, zipfile.ZipInfo],
    budget: Budget,
    depth: int,
) -> Iterator[Found | Refused]:
    name = "/".join(parts)
    limit = min(MAX_FILE_BYTES, budget.left)
    data = unpacked(archive, member, limit)
    if isinstance(data, str):
        yield Refused(name, data)
        return
    budget.left -= len(data)
    if parts[-1].lower().endswith(ARCHIVE):
        yield from _read_archive(io.BytesIO(data), parts, budget, depth + 1)
        return
    beside = members.get(str(PurePosixPath(member_name(member)).with_name(TIMESTAMP)))
    text = unpacked(archive, beside, MAX_TIMESTAMP_BYTES) if beside is not None else b""
    timestamp = "" if isinstance(text, str) else text.decode("utf-8", "replace").strip()
    yield Found(parts, data, member_time(member), timestamp, in_archive=True)


def unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> bytes | str:
    """The bytes of a member, or why there are none. Never unpacks more than `limit` bytes."""
    try:
        with archive.open(member) as file:
            data = file.read(limit + 1)
    except UNREADABLE as error:
        return f"cannot be unpacked ({error})"
    return data if len(data) <= limit else f"unpacks to more than {limit >> 20} MB"


def member_name(member: zipfile.ZipInfo) -> str:
    """The name of a member. Many programs write UTF-8 and do not say so."""
    name = member.orig_filename
    if not member.flag_bits & UTF8_NAME:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name


def member_time(member: zipfile.ZipInfo) -> datetime | None:
    """When a member was last written: in UTC if the archive says so, else by the clock of this place."""
    extra = member.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == UNIX_TIMES and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return datetime.fromtimestamp(struct.unpack_from("<i", extra, 5)[0], UTC)
        extra = extra[4 + size :]
    try:
        return datetime(*member.date_time).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def why_refused(member: zipfile.ZipInfo, name: str, seen: set[str]) -> str:
    """Why a member is not even opened; empty when it is."""
    windows = PureWindowsPath(name)
    if name.startswith("/") or windows.drive or windows.root:
        return "its name is an absolute path"
    if ".." in name.replace("\\", "/").split("/"):
        return "its name leads out of the archive"
    if any(not sign.isprintable() for sign in name) or "\\" in name:
        return "its name has signs that no file name should have"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "a link is not followed"
    if member.flag_bits & ENCRYPTED:
        return "it is encrypted"
    if name.casefold() in seen:
        return "another file of the archive has this name, or differs from it in case only"
    if member.file_size > MAX_FILE_BYTES:
        return f"larger than {MAX_FILE_BYTES >> 20} MB"
    return ""


def _is_junk(name: str) -> bool:
    parts = name.split("/")
    return bool(JUNK & set(parts)) or parts[-1].startswith("._")
