"""Blocks of quoted memory: as many lines as fit, of which nothing can be read but text."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from server.memory.statements import sentences
from server.memory.terms import letters
from server.memory.wording import bare, without_frame
from server.punctuation import join_sentences
from server.turn import Message, Recalled, RecalledDay, RecalledPage, Recollection

MOST_FACTS = 3
"""Facts in a prompt, whatever memory offers; those that stand are not counted."""
MOST_MEMORY_TOKENS = 800
"""Of facts and pages together."""
MOST_RULES_TOKENS = 120
MOST_STANDING_TOKENS = 200
MOST_KNOWN = 8
"""Facts in the portrait."""
MOST_PORTRAIT_TOKENS = 200
MOST_DAYS_TOKENS = 250
MOST_COMPACT_MEMORY_TOKENS = 150
"""A small model reads some two hundred tokens a second, and nothing is heard meanwhile."""

_LONGEST_LINE, _LONGEST_COMPACT_LINE = 300, 120
"""Characters of a fact, or of either half of a page; of a longer one the beginning is quoted."""
_LONGEST_TRAIT = 120
"""Characters of a line of the portrait."""
_MOST_DAYS = 4
"""Before one line, on which it was said."""
_MOST_TOUCHED = 3
"""Of what stands, before a question to a small model that touches it."""
_MOST_GRAVE_TOKENS = 60
"""Of one line that stands, so that the gravest is never too long to be told."""
_MOST_DAY_TOKENS, _MOST_FOLLOW_UP_TOKENS = 140, 70
"""Of one day, so that the newest is never too long."""

_SPEAKERS = {"ja": ("あなた", "ロボット"), "zh": ("你", "机器人"), "en": ("You", "Robot")}
"""Who speaks in a page. The rules in ``prompts/reply.*.md`` use the same words."""
_FOLLOW_UPS = {
    "ja": "（たずねること：{}）",
    "zh": "（可以问的事：{}）",
    "en": " (To ask about: {})",
}
_REMINDER, _MARKS, _ASSENT = "前に話したことです。{}", "「{}」", "そうでしたね。"
"""How a person reminds the Japanese model of something, the marks around each thing, and what it answers to that."""
_NOTES = {"zh": "（备注：{}）{}", "en": "(Note: {}) {}"}
"""How a question to the other small model carries what was recalled."""
_HARMLESS = str.maketrans(dict.fromkeys("<＜﹤≮", "‹") | dict.fromkeys(">＞﹥≯", "›"))
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Block:
    """Quoted memory between two tags, with a line end behind it; empty if nothing is quoted."""

    text: str = ""
    told: tuple[str, ...] = ()
    """Ids of what is quoted."""
    sources: frozenset[str] = frozenset()
    """Ids of the pages that it was drawn from."""

    @property
    def tokens(self) -> int:
        """About how many tokens it has."""
        return estimate_tokens(self.text) if self.text else 0


def standing_block(standing: Sequence[Recalled], budget: int = MOST_STANDING_TOKENS) -> Block:
    """Quote what must never be acted against, in the order that it comes in: a dated line for each.

    Args:
        standing: The gravest first; what does not fit is left out, and makes room for what is shorter.
        budget: How many tokens the block may have.
    """

    def write(kept: Sequence[Recalled]) -> Iterable[str]:
        return (_within(_fact_line(line), _MOST_GRAVE_TOKENS) for line in kept)

    text, kept = _fitting("standing_facts", _once(standing, _fact_of), budget, write, skips=True)
    return _block_of(text, kept)


def told_once(lines: Sequence[Recalled]) -> list[Recalled]:
    """Return one line for all that say the same words: the newest, with the days of the others."""
    alike: dict[str, list[Recalled]] = {}
    for line in _once(lines, _fact_of):
        alike.setdefault(words_of(line.text), []).append(line)
    return [_united(same) for same in alike.values()]


def words_of(text: str) -> str:
    """Return the words of a fact or of what was said, for comparing: without dates, frame and marks."""
    return letters(bare(text)) or text


def without_words(days: Sequence[RecalledDay], known: Set[str]) -> list[RecalledDay]:
    """Return days without the sentences that say nothing but what is told elsewhere; those that are left empty are left out.

    Args:
        days: In any order.
        known: What is told elsewhere, as `words_of` has it.
    """
    left = []
    for day in days:
        spoken = sentences(day.text)
        kept = [one for one in spoken if words_of(one) not in known]
        text = day.text if len(kept) == len(spoken) else join_sentences(kept)
        if text or day.follow_ups:
            left.append(replace(day, text=text))
    return left


def memory_block(facts: Sequence[Recalled], budget: int = MOST_MEMORY_TOKENS) -> Block:
    """Quote at most `MOST_FACTS` facts, the newest first, a dated line for each.

    Args:
        facts: Best first; of what does not fit, the least relevant is left out.
        budget: How many tokens the block may have.
    """

    def write(kept: Sequence[Recalled]) -> Iterable[str]:
        return map(_fact_line, _newest_first(kept))

    text, kept = _fitting("retrieved_memory", told_once(facts)[:MOST_FACTS], budget, write)
    return _block_of(text, kept)


def pages_block(
    pages: Sequence[RecalledPage], language: str, budget: int = MOST_MEMORY_TOKENS
) -> Block:
    """Quote exchanges, the newest first, a dated line for each; neighbours only if all others fit.

    Of those that are the same word for word, the newest is told.

    Args:
        pages: Best first; of what does not fit, the least relevant is left out.
        language: Two-letter code of the rules that say how to read it.
        budget: How many tokens the block may have.
    """
    best = _newest_of_each(sorted(pages, key=lambda page: page.neighbour))

    def write(kept: Sequence[RecalledPage]) -> Iterable[str]:
        newest_first = sorted(kept, key=lambda page: page.at, reverse=True)
        return (_page_line(page, language) for page in newest_first)

    text, kept = _fitting("earlier_talk", best, budget, write)
    return Block(text, tuple(page.id for page in kept))


def portrait_block(
    portrait: Sequence[str],
    knowledge: Sequence[Recalled] = (),
    budget: int = MOST_PORTRAIT_TOKENS,
) -> Block:
    """Quote who the person is, in the order that it comes in, and at most `MOST_KNOWN` facts behind it.

    Args:
        portrait: The most telling first; of what does not fit, the last is left out.
        knowledge: Facts, the most telling first.
        budget: How many tokens the block may have.
    """
    facts = {_fact_line(one, _LONGEST_TRAIT): one for one in knowledge[:MOST_KNOWN]}
    lines = (*(quoted(line, _LONGEST_TRAIT) for line in portrait), *facts)
    text, kept = _fitting("about_the_person", _once(filter(None, lines), str), budget, list)
    return _block_of(text, [facts[line] for line in kept if line in facts])


def rules_block(rules: Sequence[str], budget: int = MOST_RULES_TOKENS) -> Block:
    """Quote what the robot is to do for good, the first agreed to first; of what does not fit, the last is left out."""
    lines = _once(filter(None, (quoted(rule, _LONGEST_LINE) for rule in rules)), str)
    text, _ = _fitting("agreed_rules", lines, budget, list)
    return _block_of(text, ())


def days_block(days: Sequence[RecalledDay], language: str, budget: int = MOST_DAYS_TOKENS) -> Block:
    """Quote what was talked about lately, the newest last, so that a new day leaves what stands before it as it was.

    Args:
        days: Newest last; of what does not fit, the oldest is left out.
        language: Two-letter code of the rules that say how to read it.
        budget: How many tokens the block may have.
    """
    newest_first = sorted(days, key=lambda day: day.day, reverse=True)

    def write(kept: Sequence[RecalledDay]) -> Iterable[str]:
        return (_day_line(day, language) for day in reversed(kept))

    return Block(_fitting("recent_days", newest_first, budget, write)[0])


def ask_reminding(
    question: str, recalled: Recollection, language: str, budget: int
) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    """Ask a small model something, with what was recalled in the one form that it makes use of.

    The base model takes it as an exchange before the question, the instruct model as a note in it; measured, each does
    worse with the other's. The example in ``prompts/compact.*.md`` has the same words.

    What stands is told where the talk touches it, and one of it where something came to mind: beside other facts it does
    not change how often they are used, but alone before every question it turned up in a quarter of the replies, whatever
    they were about.

    Args:
        question: What the person said.
        recalled: Of what stands, what is touched is told, and then its facts; if nothing is touched, the gravest before
            them if there is room for it.
        language: Two-letter code of the talk; it says which model answers.
        budget: How many tokens memory may have; what is least relevant is left out.

    Returns:
        The messages, and the ids of the facts in them.
    """
    write = _as_exchange if language == "ja" else _as_note
    alone = (Message("user", question),)
    most = tokens_of(alone) + budget

    def asked(lines: Sequence[Recalled]) -> tuple[Message, ...]:
        return write(question, lines, language) if lines else alone

    def fits(lines: Sequence[Recalled]) -> bool:
        return tokens_of(asked(lines)) <= most

    touched = [line for line in recalled.standing if line.id in recalled.touched][:_MOST_TOUCHED]
    while touched and not fits(touched):
        touched.pop()
    known = _ids(touched)
    facts = [one for one in told_once(recalled.lines)[:MOST_FACTS] if one.id not in known]
    facts = facts[: MOST_FACTS + 1 - len(touched)]
    while facts and not fits([*touched, *facts]):
        facts.pop()
    lines = [*touched, *_newest_first(facts)]
    grave = _once([*lines, *recalled.standing], _fact_of)[len(lines) :][:1]
    if lines and not touched and fits([*grave, *lines]):
        lines = [*grave, *lines]
    return asked(lines), _ids(lines)


def estimate_tokens(text: str) -> int:
    """Estimate, on the high side, how many tokens a model makes of `text`."""
    wide = len(re.findall(r"[\u2e80-\uffef]", text))
    return wide + (len(text) - wide) // 3 + 1


def tokens_of(messages: Sequence[Message]) -> int:
    """Estimate how many tokens a model makes of messages."""
    return sum(estimate_tokens(message.content) for message in messages)


def _fitting(
    tag: str,
    best: Sequence[_Item],
    budget: int,
    write: Callable[[Sequence[_Item]], Iterable[str]],
    *,
    skips: bool = False,
) -> tuple[str, Sequence[_Item]]:
    """Return a block that quotes as many of the first items as fit, and these items.

    Args:
        tag: What stands in the tags around it.
        best: What matters least comes last.
        budget: How many tokens the block may have.
        write: Makes one line of each item, in the order in which they stand.
        skips: Whether what comes behind one that does not fit may have its place.
    """
    text, kept = "", list[_Item]()
    for item in best:
        lines = "".join(f"- {line}\n" for line in write([*kept, item]))
        longer = f"<{tag}>\n{lines}</{tag}>\n"
        if estimate_tokens(longer) <= budget:
            text, kept = longer, [*kept, item]
        elif not skips:
            break
    return text, kept


def _block_of(text: str, kept: Sequence[Recalled]) -> Block:
    return Block(text, _ids(kept), frozenset(page for line in kept for page in line.sources))


def _fact_line(line: Recalled, longest: int = _LONGEST_LINE) -> str:
    return f"{_days_of(line)} {quoted(line.text, longest)}"


def _days_of(line: Recalled) -> str:
    """Write on which days something was said: the last ones, the newest first, and the first of all."""
    days = [str(day) for day in (line.at.date(), *reversed(line.before))]
    if len(days) <= _MOST_DAYS:
        return ", ".join(days)
    return f"{', '.join(days[: _MOST_DAYS - 1])} … {days[-1]}"


def _page_line(page: RecalledPage, language: str) -> str:
    person, robot = _SPEAKERS.get(language, _SPEAKERS["en"])
    heard = quoted(page.heard, _LONGEST_LINE)
    answer = f" / {robot}: {heard}" if heard else ""
    return f"{page.at:%Y-%m-%d} {person}: {quoted(page.said, _LONGEST_LINE)}{answer}"


def _day_line(day: RecalledDay, language: str) -> str:
    text = _within(quoted(day.text, _LONGEST_LINE), _MOST_DAY_TOKENS)
    asked = " / ".join(quoted(one, _LONGEST_LINE) for one in day.follow_ups)
    form = _FOLLOW_UPS.get(language, _FOLLOW_UPS["en"]) if asked else ""
    return f"{day.day} {text}{form.format(_within(asked, _MOST_FOLLOW_UP_TOKENS))}"


def _as_exchange(question: str, lines: Sequence[Recalled], language: str) -> tuple[Message, ...]:
    said = (
        _MARKS.format(quoted(without_frame(line.text), _LONGEST_COMPACT_LINE)) for line in lines
    )
    return (
        Message("user", _REMINDER.format("".join(said))),
        Message("assistant", _ASSENT),
        Message("user", question),
    )


def _as_note(question: str, lines: Sequence[Recalled], language: str) -> tuple[Message, ...]:
    said = " ".join(quoted(line.text, _LONGEST_COMPACT_LINE) for line in lines)
    return (Message("user", _NOTES.get(language, _NOTES["en"]).format(said, question)),)


def _once(items: Iterable[_Item], key: Callable[[_Item], str]) -> list[_Item]:
    """Leave out whatever has the key of one before it."""
    first: dict[str, _Item] = {}
    for item in items:
        first.setdefault(key(item), item)
    return list(first.values())


def _newest_of_each(pages: Sequence[RecalledPage]) -> list[RecalledPage]:
    """Return the newest of those that are the same word for word, in the place of the first."""
    alike: dict[tuple[str, str], RecalledPage] = {}
    for page in pages:
        key = (letters(page.said), letters(page.heard))
        known = alike.setdefault(key, page)
        if known.at < page.at:
            alike[key] = page
    return [*alike.values()]


def _united(lines: Sequence[Recalled]) -> Recalled:
    """Return one of several lines that say the same: the newest, with all their days and sources."""
    newest = max(lines, key=lambda line: line.at)
    if len(lines) == 1:
        return newest
    days = {day for line in lines for day in (line.at.date(), *line.before)}
    before = tuple(sorted(days - {newest.at.date()}))
    sources = tuple(dict.fromkeys(page for line in lines for page in line.sources))
    return replace(newest, before=before, sources=sources)


def _fact_of(line: Recalled) -> str:
    return line.id or line.text


def _newest_first(lines: Sequence[Recalled]) -> list[Recalled]:
    return sorted(lines, key=lambda line: line.at, reverse=True)


def _ids(lines: Sequence[Recalled]) -> tuple[str, ...]:
    return tuple(line.id for line in lines if line.id)


def quoted(text: str, longest: int) -> str:
    """Make stored text a line that nothing can be read from but text: no tags in any width, no control characters.

    Args:
        text: Of any origin.
        longest: How many characters it may have; of a longer one the beginning is quoted.
    """
    plain = text.translate(_HARMLESS)
    plain = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Cs", "Cn", "Co"))
    plain = " ".join(_CONTROLS.sub(" ", plain).split())
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def _within(text: str, tokens: int) -> str:
    """Return a text, or as much of its beginning as has no more than so many tokens."""
    if estimate_tokens(text) <= tokens:
        return text
    lengths = range(len(text))
    most = bisect_right(lengths, tokens, key=lambda length: estimate_tokens(f"{text[:length]}…"))
    return f"{text[: most - 1]}…"
