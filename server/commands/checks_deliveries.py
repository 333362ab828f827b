"""What `omoide doctor` says of the webhooks: whether they have been told of the danger signs that they have to be told of."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from server.commands.backup import DATABASE
from server.commands.checks import Finding
from server.commands.safety import standing_in_words
from server.config import Config
from server.errors import OmoideError
from server.memory.cipher import cipher_of
from server.memory.safety.described import describe_webhook
from server.memory.safety.models import Standing
from server.memory.store import Store


def check_deliveries(config: Config, data: Path) -> Iterator[Finding]:
    """Does something wait for a webhook, and why?"""
    webhooks = config.safety.webhooks
    if not webhooks or not (data / DATABASE).exists():
        return
    try:
        with closing(Store(data / DATABASE, cipher_of(config.store))) as store:
            standings = store.deliveries.standings()
    except OmoideError as error:
        yield Finding("webhooks", "warn", f"not looked at: {error.code}", str(error))
        return
    for name, section in webhooks.items():
        described = describe_webhook(name, section, standings.get(name, Standing(0)))
        has_failed = bool(described["attempts"])
        yield Finding(
            f"webhook {name}",
            "warn" if has_failed else "ok",
            standing_in_words(described),
            f"Try it: `omoide safety webhook-test {name}`." if has_failed else "",
        )
