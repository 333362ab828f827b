"""Prompts: order, dates with weekdays, budget, prefix, and files that change while the server runs."""

import os
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from server.commands.bench_prompt import (
    TURNS,
    Update,
    as_text,
    common_prefix_tokens,
    memory_first,
    memory_last,
    script_talk,
)
from server.config import HistorySection
from server.errors import ConfigError
from server.memory import Page
from server.memory.working import WorkingBuffer
from server.ports import LlmTraits
from server.prompting import (
    PROMPTS,
    Phrases,
    PromptFiles,
    compose,
    short_time_line,
    time_line,
)
from server.quoting import estimate_tokens
from server.turn import Message, Prompt, Recalled, RecalledDay, RecalledPage, Recollection

NOW = datetime(2026, 10, 31, 23, 30, tzinfo=ZoneInfo("Asia/Tokyo"))
FULL = LlmTraits(compact=False, prompt_budget_tokens=3000, local=True)


def prompt(files: PromptFiles | None = None, **changes: object) -> Prompt:
    given: dict[str, object] = {
        "question": "明日の予定は？",
        "recalled": Recollection(),
        "history": (),
        "now": NOW,
        "language": "ja",
        "traits": FULL,
    }
    return compose(files or PromptFiles(), **(given | changes))  # type: ignore[arg-type]


def page(number: int, *, interrupted: bool = False) -> Page:
    return Page(f"質問{number}", f"答え{number}", NOW, "ja", interrupted)


def test_today_and_tomorrow_stand_with_weekday_and_zone() -> None:
    line = time_line(NOW, "ja")
    assert (
        line == "今日は2026年10月31日土曜日、明日は2026年11月1日日曜日。今は23:30（Asia/Tokyo）。"
    )
    assert "Saturday, October 31, 2026" in time_line(NOW, "en")
    assert "Sunday, November 1, 2026" in time_line(NOW, "en")
    assert "星期六" in time_line(NOW, "zh")
    assert short_time_line(NOW, "ja") == "（2026年10月31日土曜日、23時ごろ。明日は日曜日。）"
    assert short_time_line(NOW, "en").endswith("about 23:00. Tomorrow is Sunday.")


def test_tomorrow_is_the_next_calendar_day_when_clocks_change() -> None:
    before = datetime(2026, 10, 31, 23, 30, tzinfo=ZoneInfo("America/New_York"))
    assert "Sunday, November 1" in time_line(before, "en")


def test_stable_parts_come_first_and_the_question_last() -> None:
    made = prompt(history=[page(1), page(2, interrupted=True)])
    assert "Omo" in made.system
    assert "23:30" not in made.system
    assert [message.content for message in made.messages[:4]] == [
        "質問1",
        "答え1",
        "質問2",
        "答え2…",
    ]
    assert made.messages[-1].content.endswith("明日の予定は？")
    assert "明日は2026年11月1日日曜日" in made.messages[-1].content


def test_the_system_part_is_the_same_a_minute_later() -> None:
    for traits in (FULL, LlmTraits(compact=True, prompt_budget_tokens=200, local=True)):
        later = prompt(now=NOW + timedelta(minutes=20), traits=traits)
        assert prompt(traits=traits).system == later.system


def test_the_oldest_exchanges_give_way_to_the_budget() -> None:
    traits = LlmTraits(compact=True, prompt_budget_tokens=30, local=True)
    made = prompt(history=[page(n) for n in range(1, 6)], traits=traits)
    said = [message.content for message in made.messages[:-1] if message.role == "user"]
    assert 0 < len(said) < 5
    assert said[-1] == "質問5"


def test_a_small_model_gets_the_short_persona() -> None:
    compact = prompt(traits=LlmTraits(compact=True, prompt_budget_tokens=200, local=True))
    assert len(compact.system) < len(prompt().system)
    assert "ロボ:" in compact.system


def test_a_small_model_is_spared_the_exchanges_in_another_language() -> None:
    history = [Page("Hello", "Hi", NOW, "en"), page(1)]
    small = LlmTraits(compact=True, prompt_budget_tokens=200, local=True)
    said = [message.content for message in prompt(history=history, traits=small).messages]
    assert said == ["質問1", "答え1", "明日の予定は？"]
    assert len(prompt(history=history).messages) == 5


@pytest.fixture
def plain(tmp_path: Path) -> PromptFiles:
    """Return a persona whose every word is known."""
    texts = {
        "soul.md": "# Soul",
        "identity.md": "I am Omo.",
        "reply.en.md": "Rules.",
        "remember.en.md": "Of memory.",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return PromptFiles(tmp_path)


def fact(number: int, text: str = "", *sources: str) -> Recalled:
    at = NOW - timedelta(days=number)
    return Recalled(text or f"Fact {number}.", at, 1.0, id=f"fact-{number}", sources=sources)


def exchange(number: int, *, neighbour: bool = False) -> RecalledPage:
    at = NOW - timedelta(days=number)
    said, heard = f"Said {number}.", f"Heard {number}."
    return RecalledPage(f"page-{number}", said, heard, at, 1.0, neighbour=neighbour)


# -- the full prompt ---------------------------------------------------------------------------------------------------


def test_every_part_of_memory_stands_in_its_place(plain: PromptFiles) -> None:
    recalled = Recollection(
        lines=(fact(1, "You have a cat."),),
        pages=(exchange(2), exchange(3, neighbour=True)),
        standing=(fact(4, "You are allergic to eggs."),),
        portrait=("Your name is Hanako.",),
        days=(RecalledDay(date(2026, 10, 30), "The cat was ill.", ("The cat",)),),
    )
    made = prompt(files=plain, recalled=recalled, history=[page(1)], language="en")
    assert made.system == (
        "# Soul\n\nI am Omo.\n\nRules.\n\nOf memory.\n\n"
        "<about_the_person>\n- Your name is Hanako.\n</about_the_person>\n\n"
        "<recent_days>\n- 2026-10-30 The cat was ill. (To ask about: The cat)\n</recent_days>"
    )
    assert [message.content for message in made.messages[:-1]] == ["質問1", "答え1"]
    assert made.messages[-1].content == (
        f"<now>{time_line(NOW, 'en')}</now>\n"
        "<standing_facts>\n- 2026-10-27 You are allergic to eggs.\n</standing_facts>\n"
        "<retrieved_memory>\n- 2026-10-30 You have a cat.\n</retrieved_memory>\n"
        "<earlier_talk>\n- 2026-10-29 You: Said 2. / Robot: Heard 2.\n"
        "- 2026-10-28 You: Said 3. / Robot: Heard 3.\n</earlier_talk>\n"
        "明日の予定は？"
    )
    assert made.told == ("fact-4", "fact-1", "page-2", "page-3")


def test_a_person_of_whom_nothing_is_known_leaves_no_trace_in_the_prompt(
    plain: PromptFiles,
) -> None:
    asked = f"<now>{time_line(NOW, 'en')}</now>\n明日の予定は？"
    dialogue = (Message("user", "質問1"), Message("assistant", "答え1"))
    expected = Prompt(
        "# Soul\n\nI am Omo.\n\nRules.\n\nOf memory.", (*dialogue, Message("user", asked)), "en"
    )
    assert prompt(files=plain, history=[page(1)], language="en") == expected


def test_a_fact_that_stands_is_not_told_twice() -> None:
    """Row 79 of the memory cases: at most one line per fact."""
    egg, cat = fact(1, "Eggs."), fact(2, "Cats.")
    made = prompt(recalled=Recollection((egg, cat), standing=(egg,)))
    assert made.messages[-1].content.count("Eggs.") == 1
    assert made.told == ("fact-1", "fact-2")


def test_what_stands_but_was_left_out_for_room_is_in_the_portrait() -> None:
    """Reviewed: it stood nowhere, and one long line hid all behind it."""
    grave = (fact(1, "薬" * 45), fact(2, "癌" * 45), fact(3, "病" * 45), fact(4, "喪" * 45))
    small = fact(5, "禁煙している。")
    cat = fact(6, "猫を飼っている。")
    recalled = Recollection(standing=(*grave, small), knowledge=(cat, *grave, small))
    made = prompt(recalled=recalled)
    asked = made.messages[-1].content
    assert [one.id for one in (*grave, small) if one.text in asked] == [
        "fact-1",
        "fact-2",
        "fact-3",
        "fact-5",
    ]
    assert made.told == ("fact-1", "fact-2", "fact-3", "fact-5")
    whole = made.system + asked
    assert [whole.count(one.text) for one in (*grave, small, cat)] == [1] * 6
    assert made.system.index(grave[3].text) < made.system.index(cat.text)


def test_a_fact_that_was_recalled_has_its_one_line_in_the_portrait_if_it_has_one_there() -> None:
    """The portrait is the same in the next turn, so that a model need not read it again."""
    cat, dog = fact(1, "You have a cat.", "page-1"), fact(2, "You had a dog.", "page-2")
    recalled = Recollection((cat, dog), (exchange(1), exchange(3)), knowledge=(cat,))
    made = prompt(recalled=recalled)
    whole = made.system + made.messages[-1].content
    assert whole.count(cat.text) == whole.count(dog.text) == 1
    assert made.told == ("fact-2", "fact-1", "page-3")
    unasked = prompt(recalled=Recollection(knowledge=(cat,)))
    assert made.system == unasked.system
    assert unasked.told == (), "it is told at every turn"


def test_a_page_is_left_out_where_a_fact_was_drawn_from_it_or_the_history_holds_it() -> None:
    recalled = Recollection(
        lines=(fact(1, "", "page-1"),),
        standing=(fact(2, "", "page-2"),),
        pages=tuple(map(exchange, range(1, 5))),
    )
    history = [Page("Said 3.", "Heard 3.", NOW, "en", id="page-3")]
    assert prompt(recalled=recalled).told == ("fact-2", "fact-1", "page-3", "page-4")
    made = prompt(recalled=recalled, history=history)
    assert made.told == ("fact-2", "fact-1", "page-4")
    assert "page-3" not in made.told, "what goes on was not recalled"


def test_a_page_takes_the_place_of_its_fact_where_that_was_left_out() -> None:
    lines = tuple(fact(number, "", f"page-{number}") for number in range(1, 5))
    made = prompt(recalled=Recollection(lines, pages=(exchange(1), exchange(4))))
    assert made.told == ("fact-1", "fact-2", "fact-3", "page-4")


RANKS = ("standing", "fact", "portrait", "history", "day", "page", "neighbour")
"""What is kept longest comes first."""


def tokens_of(made: Prompt) -> int:
    return estimate_tokens(made.system) + sum(estimate_tokens(m.content) for m in made.messages)


def test_facts_of_the_same_words_are_one_line_with_their_days() -> None:
    tired = [fact(1, 'You said: "I am tired today (October 30, 2026)."', "page-1")]
    tired.append(fact(2, 'You said: "I am tired today (October 29, 2026)."', "page-2"))
    cat = fact(3, "You have a cat.")
    asked = prompt(recalled=Recollection((tired[1], cat, tired[0]))).messages[-1].content
    assert asked.count("I am tired") == 1
    assert "- 2026-10-30, 2026-10-29 You said" in asked
    assert "You have a cat." in asked


def test_an_exchange_that_says_what_a_fact_says_is_left_out_on_whatever_day() -> None:
    told = fact(1, 'You said: "I am tired today (October 30, 2026)."', "page-1")
    again = replace(exchange(3), said="I am tired today!")
    asked = prompt(recalled=Recollection((told,), (again, exchange(4)))).messages[-1].content
    assert asked.count("tired") == 1
    assert "Said 4." in asked


def test_the_same_exchange_is_told_once_and_that_is_the_newest() -> None:
    older, newer = exchange(5), replace(exchange(5), id="page-2", at=NOW - timedelta(days=2))
    other = replace(newer, id="page-3", heard="Another answer.")
    made = prompt(recalled=Recollection(pages=(older, newer, other)))
    assert made.told == ("page-2", "page-3")


def test_a_day_does_not_repeat_what_stands_or_is_in_the_portrait(plain: PromptFiles) -> None:
    egg, home = fact(1, "I am allergic to eggs."), fact(2, "I live in Leeds.")
    day = RecalledDay(
        date(2026, 10, 30),
        'You said: "I live in Leeds." You said: "I saw a heron." You said: "I am allergic to eggs."',
    )
    empty = RecalledDay(date(2026, 10, 29), 'You said: "I live in Leeds."')
    recalled = Recollection(standing=(egg,), knowledge=(egg, home), days=(empty, day))
    made = prompt(files=plain, recalled=recalled, language="en")
    assert '<recent_days>\n- 2026-10-30 You said: "I saw a heron."\n</recent_days>' in made.system
    assert f"{made.system}{made.messages[-1].content}".count("Leeds") == 1


def test_what_matters_least_goes_first_when_the_budget_is_short(plain: PromptFiles) -> None:
    # Each part is longer than the one before, so that none fits where a more important one did not.
    sizes = (10, 20, 35, 65, 100, 110, 120)
    parts = {rank: f"({rank})" + " so" * size for rank, size in zip(RANKS, sizes, strict=True)}
    found = RecalledPage("page", parts["page"], "", NOW, 1.0)
    near = RecalledPage("near", parts["neighbour"], "", NOW, 1.0, neighbour=True)
    recalled = Recollection(
        lines=(fact(1, parts["fact"]),),
        pages=(near, found),
        standing=(fact(2, parts["standing"]),),
        portrait=(parts["portrait"],),
        days=(RecalledDay(date(2026, 10, 30), parts["day"]),),
    )
    history = [Page(parts["history"], "", NOW, "en")]
    seen = {}
    for budget in range(0, 800, 2):
        traits = LlmTraits(compact=False, prompt_budget_tokens=budget, local=True)
        made = prompt(recalled=recalled, files=plain, history=history, language="en", traits=traits)
        whole = made.system + "".join(message.content for message in made.messages)
        seen[budget] = tuple(rank for rank in RANKS if f"({rank})" in whole)
        assert whole.endswith("明日の予定は？")
        assert not seen[budget] or tokens_of(made) <= budget
    assert list(dict.fromkeys(seen.values())) == [RANKS[:number] for number in range(8)]


def test_the_oldest_day_gives_way_before_the_newest(plain: PromptFiles) -> None:
    days = tuple(RecalledDay(date(2026, 10, number), "雨だった。" * 20) for number in (28, 29, 30))
    made = prompt(recalled=Recollection(days=days), files=plain, language="en")
    assert "2026-10-28" not in made.system
    assert made.system.index("2026-10-29") < made.system.index("2026-10-30")


def test_facts_and_pages_share_one_budget() -> None:
    lines = tuple(fact(number, "あ" * 249 + str(number)) for number in (1, 2, 3))
    pages = tuple(replace(exchange(number), said="い" * 100) for number in range(4, 20))
    both = prompt(recalled=Recollection(lines, pages)).told
    assert both == ("fact-1", "fact-2", "fact-3")
    assert len(prompt(recalled=Recollection(lines[:1], pages)).told) == 1 + 4


# -- the prompt of a small model ---------------------------------------------------------------------------------------

SMALL = LlmTraits(compact=True, prompt_budget_tokens=150, local=True)


def test_a_small_model_gets_memory_as_an_exchange_before_the_question() -> None:
    said = "あなたは「来週の土曜（2026年10月3日）に友達と箱根に行くんだ」と話した。"
    made = prompt(recalled=Recollection((fact(1, said),)), history=[page(1)], traits=SMALL)
    assert [(message.role, message.content) for message in made.messages[2:]] == [
        ("user", "前に話したことです。「来週の土曜（2026年10月3日）に友達と箱根に行くんだ」"),
        ("assistant", "そうでしたね。"),
        ("user", "明日の予定は？"),
    ]
    assert made.told == ("fact-1",)


def test_the_other_small_model_gets_memory_as_a_note_in_the_question() -> None:
    said = 'You said: "I have two cats at home."'
    recalled = Recollection((fact(1, said),))
    made = prompt(recalled=recalled, question="Do I have pets?", language="en", traits=SMALL)
    assert made.messages == (Message("user", f"(Note: {said}) Do I have pets?"),)


def test_a_small_model_is_spared_pages_portrait_and_days() -> None:
    everything = Recollection(
        lines=(fact(1),),
        pages=(exchange(2),),
        portrait=("Your name is Hanako.",),
        days=(RecalledDay(date(2026, 10, 30), "Rain."),),
    )
    facts_alone = prompt(recalled=Recollection(everything.lines), traits=SMALL)
    assert prompt(recalled=everything, traits=SMALL) == facts_alone
    assert prompt(recalled=replace(everything, lines=()), traits=SMALL) == prompt(traits=SMALL)


# -- length, and what a prefix cache can keep --------------------------------------------------------------------------


def all_that_has_been_told(turns: int) -> Recollection:
    """Return what a memory offers that holds nothing back: everything of that many turns."""
    numbers = range(1, turns + 1)
    return Recollection(
        lines=tuple(
            fact(n, f"あなたは{n:05}回走ったと話した。", f"fact-page-{n}") for n in numbers
        ),
        pages=tuple(replace(exchange(n), said=f"{n:05}" + "あ" * 190) for n in numbers),
        standing=tuple(fact(-n, f"{n:05}回目の" + "え" * 40) for n in numbers),
        portrait=tuple(f"{n:05}" + "い" * 60 for n in numbers),
        days=tuple(RecalledDay(NOW.date() - timedelta(n), "う" * 100) for n in numbers)[::-1],
    )


@pytest.mark.parametrize("traits", [FULL, SMALL], ids=["remote", "embedded"])
def test_a_prompt_is_no_longer_after_two_thousand_turns_than_after_five(traits: LlmTraits) -> None:
    """Row 76 of the memory cases, and growth in group 10: the whole talk was sent at every turn."""
    buffer = WorkingBuffer(HistorySection())
    sizes = {}
    for number in range(1, 2_001):
        now = NOW + timedelta(minutes=number)
        said = f"{number:05}回目の質問です。"
        if number <= 20 or number % 100 == 0:
            made = prompt(
                question=said,
                history=buffer.recent("hanako", now),
                recalled=all_that_has_been_told(number),
                now=now,
                traits=traits,
            )
            sizes[number] = len(made.system) + sum(len(m.content) for m in made.messages)
        buffer.add(Page(said, "なるほど。", now, "ja", person="hanako"))
    assert abs(sizes[2_000] - sizes[5]) <= 8  # the name of the weekday, the digits of a date
    assert max(sizes.values()) - sizes[5] <= 8


@pytest.mark.parametrize("language", ["ja", "en"])
async def test_from_turn_to_turn_all_that_went_before_the_question_is_read_already(
    language: str,
) -> None:
    talk = await script_talk(language, FULL, TURNS, Update.NOTHING)
    prompts = [memory_last(PromptFiles(), asked) for asked in talk]
    for before, after in pairwise(prompts):
        assert common_prefix_tokens(before, after) >= tokens_before_the_question(before)


@pytest.mark.parametrize("language", ["ja", "en"])
async def test_what_memory_has_learnt_meanwhile_is_read_and_nothing_else_again(
    language: str,
) -> None:
    talk = await script_talk(language, FULL, TURNS, Update.FACTS)
    for layout, keeps in ((memory_last, True), (memory_first, False)):
        prompts = [layout(PromptFiles(), asked) for asked in talk]
        for before, after in pairwise(prompts):
            alike = common_prefix_tokens(before, after)
            assert (alike >= tokens_before_the_question(before)) is keeps
            assert after.messages[-1].content != before.messages[-1].content


async def test_the_day_that_was_summarized_leaves_the_persona_and_the_portrait_read() -> None:
    before, *_ = await script_talk("ja", FULL, TURNS, Update.NOTHING)
    days = (*before.recalled.days, RecalledDay(date(2026, 11, 2), "新しい本の話をした。"))
    after = replace(before, recalled=replace(before.recalled, days=days))
    one, other = memory_last(PromptFiles(), before), memory_last(PromptFiles(), after)
    persona, _, _ = one.system.partition("</recent_days>")
    assert "<about_the_person>" in persona
    assert one.system != other.system
    assert common_prefix_tokens(one, other) >= estimate_tokens(persona)


def tokens_before_the_question(made: Prompt) -> int:
    return estimate_tokens(as_text(replace(made, messages=made.messages[:-1])))


def test_every_language_has_its_texts() -> None:
    files = PromptFiles()
    for language in ("ja", "en", "zh"):
        assert files.in_language("reply", language)
        for key in ("apology", "rest-missing", "filler", "llm-unconfigured", "engine-missing"):
            assert Phrases(files).get(key, language)


def test_an_unknown_language_and_an_unknown_code_fall_back() -> None:
    phrases = Phrases(PromptFiles())
    assert phrases.get("apology", "fr") == phrases.get("apology", "en")
    assert phrases.get("no-such-code", "ja") == phrases.get("apology", "ja")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    files = PromptFiles(tmp_path)
    file = tmp_path / "soul.md"
    file.write_text("first", encoding="utf-8")
    assert files.text("soul.md") == "first"
    file.write_text("other", encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert files.text("soul.md") == "other"


def test_a_file_that_vanishes_keeps_its_last_text(tmp_path: Path) -> None:
    files = PromptFiles(tmp_path)
    (tmp_path / "soul.md").write_text("text", encoding="utf-8")
    files.text("soul.md")
    (tmp_path / "soul.md").unlink()
    assert files.text("soul.md") == "text"


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nothing\.md"):
        PromptFiles(PROMPTS).text("nothing.md")


def test_broken_phrases_are_named(tmp_path: Path) -> None:
    (tmp_path / "phrases.en.yaml").write_text("- a list", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"phrases\.en\.yaml"):
        Phrases(PromptFiles(tmp_path)).get("apology", "en")


def test_who_does_not_want_to_be_remembered_gets_no_word_of_memory_but_that(
    plain: PromptFiles,
) -> None:
    (plain.folder / "off_record.en.md").write_text("Not remembered.", encoding="utf-8")
    made = compose(
        plain,
        question="Hello!",
        recalled=Recollection(is_allowed=False),
        history=(),
        now=NOW,
        language="en",
        traits=LlmTraits(compact=False, prompt_budget_tokens=3000, local=False),
    )
    assert made.system == "# Soul\n\nI am Omo.\n\nRules.\n\nNot remembered."
