"""The part of the command line that is about how the store lies on the disk: names and options."""
# ruff: noqa: PLC0415 - the libraries behind memory take a second to load

import typer

from server.cli_options import DATA, ConfigOption, DataOption, JsonOption, finish
from server.commands.report import Report, Tell
from server.commands.run import carry_out, with_config
from server.config import Config


def add_to(memory_app: typer.Typer) -> None:
    """Add the commands to those about memory."""
    memory_app.command("encrypt")(encrypt_command)
    memory_app.command("decrypt")(decrypt_command)


def encrypt_command(
    as_json: JsonOption = False, config: ConfigOption = None, data: DataOption = DATA
) -> None:
    """Encrypt a store that is plain, with the key of `store.key_env` or `store.key_file`. Stop the server first."""
    from server.commands import encryption

    def work(loaded: Config, tell: Tell) -> Report:
        return encryption.encrypt(loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=encryption.NOTHING, as_json=as_json))


def decrypt_command(
    as_json: JsonOption = False, config: ConfigOption = None, data: DataOption = DATA
) -> None:
    """Write a store that is encrypted as a plain file again. Stop the server first."""
    from server.commands import encryption

    def work(loaded: Config, tell: Tell) -> Report:
        return encryption.decrypt(loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=encryption.NOTHING, as_json=as_json))
