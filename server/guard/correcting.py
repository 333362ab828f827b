"""What the model is told before its second attempt: what was wrong, which facts hold, and what has been heard already."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import yaml

from server.errors import ConfigError
from server.guard.hits import Hit
from server.prompting import PromptFiles
from server.quoting import quoted, standing_block
from server.turn import Recalled, Recollection

_LONGEST_SAID = 300
"""Characters of what has been said: its end is what one goes on from."""


def correction(
    files: PromptFiles, hit: Hit | None, recalled: Recollection, said: str, language: str
) -> str:
    """Return the block that stands before the question when it is asked again, with a line end behind it.

    Args:
        files: Have the words, in ``correct.LANGUAGE.yaml``.
        hit: What was wrong; where nothing was, there is no block.
        recalled: Holds the facts.
        said: What the person has heard of the reply.
        language: Two-letter code of the reply.

    Raises:
        ConfigError: ``prompt-missing`` or ``prompt-broken``.
    """
    if hit is None:
        return ""
    words = _words(files, language)
    lines = [words["stopped"], words[hit.kind.value]]
    if said:
        lines.append(words["said"].replace("{}", quoted(said[-_LONGEST_SAID:], _LONGEST_SAID)))
    lines.append(words["again"])
    facts = standing_block(_lines(hit, recalled)).text
    return f"{facts}<correction>\n{' '.join(lines)}\n</correction>\n"


def touching(recalled: Recollection, hit: Hit | None) -> Recollection:
    """Return a recollection in which the facts of a fault are those that the talk touches: a small model is told these."""
    return replace(recalled, touched=hit.facts) if hit and hit.facts else recalled


def _lines(hit: Hit, recalled: Recollection) -> list[Recalled]:
    known = (*recalled.standing, *recalled.lines, *recalled.knowledge)
    return [line for line in known if line.id and line.id in hit.facts]


def _words(files: PromptFiles, language: str) -> Mapping[str, str]:
    name = files.name_of("correct", language, "yaml")
    needed = ("stopped", "said", "again")
    try:
        words: Any = yaml.safe_load(files.text(name))
    except yaml.YAMLError:
        words = None
    if not isinstance(words, dict) or not all(words.get(key) for key in needed):
        raise ConfigError(
            f"{files.folder}: {name} needs the keys {', '.join(needed)} and one for each kind of fault.",
            code="prompt-broken",
        )
    return _Words({str(key): str(text) for key, text in words.items()})


class _Words(dict[str, str]):
    """Words by key; for a kind of fault without any, none."""

    def __missing__(self, key: str) -> str:
        return ""
