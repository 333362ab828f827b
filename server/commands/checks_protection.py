"""What `omoide doctor` looks at where the configuration asks for protection: the certificate, and the key of the store."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from server.commands.backup import DATABASE
from server.commands.checks import Finding
from server.config import Config
from server.errors import OmoideError
from server.left_in_clear import left_in_clear
from server.memory.cipher import check_form, connect, errors_of, read_cipher, wrong_key
from server.tls import find_date_trouble, server_context

_SECONDS = 5.0


def check_protection(config: Config, data: Path) -> Iterator[Finding]:
    """Do the certificate and the key work that were asked for?"""
    tls = config.server.tls
    if tls.is_on:
        try:
            server_context(tls)
            trouble = find_date_trouble(tls)
            yield Finding("tls", "fail" if trouble else "ok", trouble or tls.certificate)
        except OmoideError as error:
            yield Finding("tls", "fail", str(error), "The server does not start without it.")
    if config.store.encryption != "off":
        try:
            _open_store(config, data / DATABASE)
            yield Finding(
                "encryption", "ok", f"{config.store.encryption}; the key is there and fits"
            )
        except OmoideError as error:
            yield Finding("encryption", "fail", str(error), "The server does not start without it.")

    for what, advice in left_in_clear(config, data).items():
        yield Finding(
            f"clear-{what}", "warn", f"{what}: not encrypted, other than the store", advice
        )


def _open_store(config: Config, file: Path) -> None:
    cipher = read_cipher(config.store)
    check_form(file, cipher)
    if not file.exists():
        return
    try:
        with closing(connect(file, cipher, _SECONDS)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except errors_of(cipher) as error:
        raise wrong_key(file) from error
