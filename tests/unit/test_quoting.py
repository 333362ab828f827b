"""Blocks of quoted memory: what is in them, what gives way, and that nothing gets out of them."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory import Page
from server.memory.extract import RulesExtractor
from server.prompting import PromptFiles
from server.quoting import (
    MOST_DAYS_TOKENS,
    MOST_PORTRAIT_TOKENS,
    MOST_STANDING_TOKENS,
    Block,
    ask_reminding,
    days_block,
    estimate_tokens,
    memory_block,
    pages_block,
    portrait_block,
    standing_block,
    without_words,
    words_of,
)
from server.turn import Message, Recalled, RecalledDay, RecalledPage, Recollection

NOW = datetime(2026, 10, 31, 23, 30, tzinfo=ZoneInfo("Asia/Tokyo"))
DAY = timedelta(days=1)


def facts(*texts: str, at: Sequence[datetime] = ()) -> tuple[Recalled, ...]:
    """Return facts, best first, each said a day before the one in front of it unless `at` says when."""
    days = at or [NOW - number * DAY for number in range(1, len(texts) + 1)]
    return tuple(
        Recalled(text, day, 1.0, id=f"fact-{number}", sources=(f"page-of-fact-{number}",))
        for number, (text, day) in enumerate(zip(texts, days, strict=True))
    )


def page(number: int, said: str = "", heard: str = "", *, neighbour: bool = False) -> RecalledPage:
    said, heard = said or f"said {number}", heard or f"heard {number}"
    return RecalledPage(f"page-{number}", said, heard, NOW - number * DAY, 1.0, neighbour=neighbour)


def day(number: int, text: str, *follow_ups: str) -> RecalledDay:
    return RecalledDay(date(2026, 10, number), text, follow_ups)


def lines_of(block: Block) -> list[str]:
    return [line for line in block.text.splitlines() if line.startswith("- ")]


BLOCKS: dict[str, Callable[[str], Block]] = {
    "standing_facts": lambda text: standing_block(facts(text)),
    "retrieved_memory": lambda text: memory_block(facts(text)),
    "earlier_talk": lambda text: pages_block([page(1, text, text)], "ja"),
    "about_the_person": lambda text: portrait_block([f"x{text}"]),
    "recent_days": lambda text: days_block([day(30, text, text)], "ja"),
}
TAGS = (*BLOCKS, "now")


@st.composite
def hostile(draw: st.DrawFn) -> str:
    """Make a text with signs of tags in every width, and whatever else there is."""
    tags = [f"{opening}{tag}" for tag in TAGS for opening in ("<", "</", "＜／", "﹤/", "≮")]
    signs = (">", "＞", "﹥", "≯", "\n", "\r", "\u2028", "\x85", "\x00", "\u202e", "\u0338", "- ")
    pieces = st.one_of(st.sampled_from(tags), st.sampled_from(signs), st.text(max_size=8))
    return "".join(draw(st.lists(pieces, max_size=30)))


@pytest.mark.parametrize("tag", BLOCKS)
@given(hostile() | st.text(st.characters(), max_size=1_000))
def test_whatever_is_remembered_is_one_line_of_text_between_two_tags(tag: str, text: str) -> None:
    """Row 63 of the memory cases: recalled text was pasted in unescaped."""
    block = BLOCKS[tag](text).text
    opening, line, closing = block.splitlines()
    assert (opening, closing) == (f"<{tag}>", f"</{tag}>")
    assert line.startswith("- ")
    for form in ("NFC", "NFKC", "NFKD"):
        assert not re.search("[<>]", unicodedata.normalize(form, line))
    block.encode()


@given(hostile())
def test_a_small_model_gets_whatever_is_remembered_as_one_line(text: str) -> None:
    recalled = Recollection(facts(text), standing=facts("Another.", text))
    for language, messages in (("ja", 3), ("en", 1)):
        asked, _ = ask_reminding("", recalled, language, 150)
        assert len(asked) == messages
        assert len(asked[0].content.splitlines()) == 1
        assert "<" not in unicodedata.normalize("NFKC", asked[0].content)


@pytest.mark.parametrize("tag", BLOCKS)
def test_what_goes_on_for_pages_is_cut_and_fits(tag: str) -> None:
    for words in ("very " * 10_000, "とても" * 10_000):
        (line,) = lines_of(BLOCKS[tag](words))
        assert "…" in line
        assert len(line) < 700


def test_the_blocks_that_are_always_there_keep_to_their_size() -> None:
    many = [f"あなたは{number}が好きだ。" for number in range(1_000)]
    days = [RecalledDay(NOW.date() - number * DAY, many[number]) for number in range(99, 0, -1)]
    assert 0 < standing_block(facts(*many)).tokens <= MOST_STANDING_TOKENS
    assert 0 < portrait_block(many).tokens <= MOST_PORTRAIT_TOKENS
    assert 0 < days_block(days, "ja").tokens <= MOST_DAYS_TOKENS
    assert 0 < pages_block([page(number) for number in range(1_000)], "ja", 300).tokens <= 300


def test_nothing_to_quote_makes_no_block() -> None:
    assert memory_block(()) == standing_block(()) == portrait_block(()) == Block()
    assert portrait_block(["\n", ""]) == pages_block((), "ja") == days_block((), "ja") == Block()
    assert Block().tokens == 0


# -- facts -------------------------------------------------------------------------------------------------------------


def test_facts_stand_newest_first_with_their_dates() -> None:
    days = [datetime(2026, month, 1, tzinfo=NOW.tzinfo) for month in (3, 9, 5)]
    block = memory_block(facts("March", "September", "May", at=days))
    assert lines_of(block) == ["- 2026-09-01 September", "- 2026-05-01 May", "- 2026-03-01 March"]


def test_no_more_than_three_facts_and_each_once_are_quoted() -> None:
    """Row 79 of the memory cases: the same fact nine times taught the model to ignore memory."""
    tea = Recalled("You like tea.", NOW, 0.9, id="tea")
    block = memory_block((tea, *[tea] * 9, *facts("A.", "B.", "C.")))
    assert sorted(line[13:] for line in lines_of(block)) == ["A.", "B.", "You like tea."]
    assert sorted(block.told) == ["fact-0", "fact-1", "tea"]


def test_the_least_relevant_fact_gives_way() -> None:
    texts = ["あ" * 60, "い" * 60, "う" * 60]
    assert [line[13] for line in lines_of(memory_block(facts(*texts)))] == ["あ", "い", "う"]
    short = memory_block(facts(*texts), 160)
    assert [line[13] for line in lines_of(short)] == ["あ", "い"]
    assert short.told == ("fact-0", "fact-1")
    assert short.sources == {"page-of-fact-0", "page-of-fact-1"}
    assert memory_block(facts(*texts), 20) == Block()


def test_what_stands_keeps_its_order_and_each_fact_its_one_line() -> None:
    days = [NOW - 9 * DAY, NOW - DAY, NOW]
    block = standing_block(facts("Eggs.", "Nuts.", "Bees.", at=days) * 2)
    assert [line[13:] for line in lines_of(block)] == ["Eggs.", "Nuts.", "Bees."]
    assert block.told == ("fact-0", "fact-1", "fact-2")


# -- pages, portrait, days ---------------------------------------------------------------------------------------------


def test_an_exchange_stands_word_for_word_on_one_line_newest_first() -> None:
    block = pages_block([page(3, "I have a cat.", "How nice!"), page(1, "Meow?", "Meow.")], "en")
    assert lines_of(block) == [
        "- 2026-10-30 You: Meow? / Robot: Meow.",
        "- 2026-10-28 You: I have a cat. / Robot: How nice!",
    ]
    unanswered = replace(page(1), heard="")
    assert lines_of(pages_block([unanswered], "ja")) == ["- 2026-10-30 あなた: said 1"]


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
def test_the_rules_use_the_words_of_the_blocks(language: str) -> None:
    rules = "\n".join(PromptFiles().in_language(stem, language) for stem in ("reply", "remember"))
    (line,) = lines_of(pages_block([page(1, "A", "B")], language))
    robot = line.removesuffix(": B").rpartition(" ")[2]
    assert robot in rules
    (line,) = lines_of(days_block([day(30, "A", "B")], language))
    asking = line.partition("A")[2].partition("B")[0].strip(" (（:：")
    assert asking.lower() in rules.lower()
    assert all(f"<{tag}>" in rules for tag in TAGS)


def test_neighbours_come_only_when_all_others_fit() -> None:
    offered = [page(1), page(2, neighbour=True), page(3), page(4, neighbour=True)]
    told = [pages_block(offered, "en", budget).told for budget in range(10, 120)]
    assert set(told) == {
        (),
        ("page-1",),
        ("page-1", "page-3"),
        ("page-1", "page-3", "page-2"),
        ("page-1", "page-3", "page-2", "page-4"),
    }


def test_a_page_that_was_found_and_came_along_too_stands_once() -> None:
    block = pages_block([page(1, neighbour=True), page(2), page(1)], "en")
    assert block.told == ("page-2", "page-1")
    assert len(lines_of(block)) == 2


def test_days_stand_newest_last_with_what_to_ask_about() -> None:
    block = days_block([day(29, "Rain."), day(30, "A cat was ill.", "The cat", "Sleep")], "en")
    assert lines_of(block) == [
        "- 2026-10-29 Rain.",
        "- 2026-10-30 A cat was ill. (To ask about: The cat / Sleep)",
    ]


def test_the_oldest_day_gives_way_and_the_newest_is_kept_however_long_it_is() -> None:
    days = [day(28, "い" * 90), day(29, "ろ" * 90), day(30, "は" * 500, "に" * 120, "ほ" * 120)]
    (line,) = lines_of(days_block(days, "ja"))
    assert "2026-10-30" in line
    assert "は…" in line
    assert "に…" in line
    assert [text[2:12] for text in lines_of(days_block(days[:2], "ja"))] == [
        "2026-10-28",
        "2026-10-29",
    ]


@pytest.mark.parametrize("sign", ["あ", "x"])
@pytest.mark.parametrize("number", [138, 139, 140, 141, 290])
def test_a_day_is_cut_only_if_it_must_be_and_no_shorter_than_it_must(
    sign: str, number: int
) -> None:
    (line,) = lines_of(days_block([day(30, sign * number)], "ja"))
    text = line.removeprefix("- 2026-10-30 ")
    is_cut = sign == "あ" and number >= 140
    assert text == ("あ" * 139 + "…" if is_cut else sign * number)
    assert estimate_tokens(text) <= 140


def test_the_last_line_of_the_portrait_gives_way() -> None:
    lines = ["Your name is Hanako.", "Your name is Hanako.", *("あ" * 90, "い" * 90, "う" * 90)]
    assert [line[2] for line in lines_of(portrait_block(lines))] == ["Y", "あ"]


# -- small models ------------------------------------------------------------------------------------------------------


def reminded(recalled: Recollection, language: str = "ja", budget: int = 150) -> str:
    return ask_reminding("？", recalled, language, budget)[0][0].content


def test_the_least_relevant_fact_gives_way_in_a_reminder() -> None:
    recalled = Recollection(facts("あ" * 60, "い" * 60, "う" * 60))
    messages, told = ask_reminding("？", recalled, "ja", 100)
    assert "あ" in messages[0].content
    assert "い" not in messages[0].content
    assert told == ("fact-0",)
    assert ask_reminding("？", recalled, "ja", 20) == ((Message("user", "？"),), ())


def test_one_fact_that_stands_goes_in_front_if_there_is_room() -> None:
    standing = (Recalled("卵", NOW, 1.0, id="egg"), Recalled("蜂", NOW, 1.0, id="bee"))
    recalled = Recollection(facts("猫"), standing=standing)
    messages, told = ask_reminding("？", recalled, "ja", 150)
    assert messages[0].content == "前に話したことです。「卵」「猫」"
    assert told == ("egg", "fact-0")
    assert "卵" not in reminded(recalled, budget=22)
    assert "猫" in reminded(recalled, budget=22)
    known = replace(recalled, lines=(standing[0],))
    assert reminded(known) == "前に話したことです。「蜂」「卵」"


def test_what_stands_is_not_brought_up_when_nothing_came_to_mind() -> None:
    recalled = Recollection(standing=facts("卵"), portrait=("花子",), days=(day(30, "雨"),))
    assert ask_reminding("？", recalled, "ja", 150) == ((Message("user", "？"),), ())


def test_what_is_touched_is_told_even_if_nothing_came_to_mind_and_before_what_did() -> None:
    egg, bee, cold = (Recalled(text, NOW, 1.0, id=text) for text in ("卵", "蜂", "塩"))
    recalled = Recollection(standing=(egg, bee, cold), touched=("蜂", "塩"))
    assert reminded(recalled) == "前に話したことです。「蜂」「塩」"
    assert ask_reminding("？", recalled, "ja", 150)[1] == ("蜂", "塩")
    assert reminded(recalled, budget=22) == "前に話したことです。「蜂」"
    both = replace(recalled, lines=(cold, *facts("猫")))
    assert reminded(both) == "前に話したことです。「蜂」「塩」「猫」"
    many = Recollection(standing=facts(*"卵蜂塩酒"))
    many = replace(many, touched=tuple(line.id for line in many.standing))
    assert len(ask_reminding("？", many, "ja", 150)[1]) == 3, "not a list of ills"


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("あなたは「猫を飼っている」と話した。", "前に話したことです。「猫を飼っている」"),
        ("あなたは猫を飼っている。", "前に話したことです。「あなたは猫を飼っている。」"),
        ("あなたは「A」を「B」と呼ぶ。", "前に話したことです。「あなたは「A」を「B」と呼ぶ。」"),
    ],
)
def test_the_japanese_model_hears_the_very_words_that_were_said(fact: str, said: str) -> None:
    assert reminded(Recollection(facts(fact))) == said


async def test_the_frame_of_facts_that_rules_have_drawn_is_known() -> None:
    pages = [Page("猫を飼っている", "", NOW, "ja", id="turn", person="hanako")]
    (fact,) = (await RulesExtractor().extract(pages, 0)).facts
    assert reminded(Recollection(facts(fact.text))) == "前に話したことです。「猫を飼っている」"


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_small_model_is_shown_how_memory_is_used(language: str) -> None:
    (told, *rest), _ = ask_reminding("Y", Recollection(facts("X")), language, 150)
    persona = PromptFiles().in_language("compact", language)
    assert told.content.partition("X")[0] in persona
    assert all(message.content in persona for message in rest[:-1])


@pytest.mark.parametrize(
    ("text", "told", "left"),
    [
        (
            "猫を飼い始めた。雨だった。散歩に行った。",
            "雨だった。",
            "猫を飼い始めた。散歩に行った。",
        ),
        ("我养了一只猫。下雨了。去散步了。", "下雨了。", "我养了一只猫。去散步了。"),
        ("A cat came. It rained. We walked.", "It rained.", "A cat came. We walked."),
    ],
)
def test_the_rest_of_a_day_is_joined_as_its_language_is_written(
    text: str, told: str, left: str
) -> None:
    [one] = without_words([day(30, text)], {words_of(told)})
    assert one.text == left
