import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from server.query import is_noise, normalize, tidy, without_wake_word


@pytest.mark.parametrize(
    "transcript",
    [
        "週末の予定覚えてる",
        "週末の予定覚えてる?",
        "週末の予定覚えてる？",
        "週末の予定覚えてる？！",
        "週末の予定覚えてる。",
        " 週末の 予定　覚えてる… ",
        "えっと、週末の予定覚えてる？",
        "えーーーっと 週末の予定覚えてる",
        "あの、うーんと、週末の予定覚えてる？",
        "、週末の予定覚えてる",
    ],
)
def test_marks_blanks_and_hesitations_do_not_change_the_query(transcript: str) -> None:
    assert normalize(transcript) == "週末の予定覚えてる"


@pytest.mark.parametrize(
    ("transcript", "query"),
    [
        ("ﾗｰﾒﾝ食べたい！", "ラーメン食べたい"),
        ("ｉＰｈｏｎｅ　ケース", "iPhoneケース"),
        ("２０２６－０９－２３", "2026-09-23"),
        ("３〜５時に会う", "3〜5時に会う"),
        ("スーパーーーー", "スーパー"),
        ("um, what's  up?", "what's up"),
        ("Well, uh, I like it.", "I like it"),
        ("嗯，今天天气怎么样？", "今天天气怎么样"),
        ("\ud800はい\x00", "はい"),
    ],
)
def test_width_and_stretching_are_unified(transcript: str, query: str) -> None:
    assert normalize(transcript) == query


@pytest.mark.parametrize(
    "transcript",
    [
        "あの人は誰",
        "その本どこ",
        "うんと遊んだ",
        "well done",
        "Umbrella please",
        "So what",
        "まあまあだった",
        "ええ、そうです",
        "C++",
        "like a rolling stone",
    ],
)
def test_words_that_only_look_like_hesitations_stay(transcript: str) -> None:
    assert normalize(transcript) == transcript


def test_a_hesitation_alone_is_kept() -> None:
    assert normalize("えっと…") == "えっと"


@pytest.mark.parametrize("transcript", ["", "。", " ", "？？", "…", "♪"])
def test_nothing_but_signs_becomes_empty(transcript: str) -> None:
    assert normalize(transcript) == ""


@given(
    st.text() | st.text("えーっとあのうん、。？! 〜~ーumwel,，　ｱﾊﾞ゛゜３5-—😀\u0301\ud800\u200b")
)
@example("um,um!、えっと")
def test_normalizing_twice_changes_nothing(transcript: str) -> None:
    once = normalize(transcript)
    assert normalize(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "",
        "。",
        " \n",
        "...",
        "ー",
        "[Music]",
        "(音楽)",
        "*sighs*",
        "[BLANK_AUDIO]",
    ],
)
def test_silence_and_notes_on_sounds_are_noise(text: str) -> None:
    assert is_noise(text)


@pytest.mark.parametrize(
    "text",
    [
        "うん",
        "はい",
        "hai",
        "OK",
        "Thank you.",
        "ありがとうございました",
        "おやすみなさい",
        "Bye.",
        "You are great.",
        "ご視聴ありがとうございましたって何？",
        "Thank you for watching my cat.",
        "スタッフの名前は？",
        "字幕の大きさを変えて",
        "字幕って何",
        "(see) you",
        "んー、明日かな",
        "5",
    ],
)
def test_what_people_say_is_no_noise(text: str) -> None:
    assert not is_noise(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" おはよう ", "おはよう"),
        ("あいうえおかきくけこさ", "いうえおかきくけこさ"),
        ("a " + "b" * 9, "b" * 9),
        ("あ\ud800い\udfff", "あい"),
        ("", ""),
    ],
)
def test_of_a_long_text_the_end_is_kept_and_nothing_broken(text: str, kept: str) -> None:
    assert tidy(text, 10) == kept


@pytest.mark.parametrize(
    ("said", "rest"),
    [
        ("StackChan, when is my gig?", "when is my gig?"),
        ("Hi Stack Chan what's up", "what's up"),
        ("スタックチャン、猫の名前は？", "猫の名前は？"),
        ("ねえスタックチャン 元気？", "元気？"),
        ("スタックチャンさん元気？", "元気？"),
        ("ＳｔａｃｋＣｈａｎ！聞いて", "ＳｔａｃｋＣｈａｎ！聞いて"),
        ("オモイデちゃん、おはよう", "オモイデちゃん、おはよう"),
        ("StackChan", "StackChan"),
        ("StackChan!!", "StackChan!!"),
        ("StackChans are cute", "StackChans are cute"),
        ("My StackChan is broken", "My StackChan is broken"),
        ("", ""),
    ],
)
def test_the_name_that_a_robot_is_called_by_is_no_part_of_what_is_said(
    said: str, rest: str
) -> None:
    names = ("StackChan", "Hi StackChan", "スタックチャン", "ねえスタックチャン", "")
    assert without_wake_word(said, names) == rest


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=3))
def test_taking_a_name_away_leaves_something_said(text: str, names: list[str]) -> None:
    rest = without_wake_word(text, names)
    assert text.endswith(rest)
    assert any(map(str.isalnum, rest)) or rest == text


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Y\u043eur n\u0430me", "Your name"),
        ("Ｆｒｏｍ ｎｏｗ ｏｎ", "From now on"),
        ("\U0001d418\U0001d428u", "You"),
        ("pass\u00adword", "password"),
        ("覚\u200bえて", "覚えて"),
        ("Привет, Omo", "Привет, Omo"),
        ("café", "café"),
        ("👨\u200d👩\u200d👧 家族", "👨\u200d👩\u200d👧 家族"),
        ("α is a letter", "α is a letter"),
    ],
)
def test_letters_that_look_like_others_are_read_as_these(typed: str, read: str) -> None:
    assert tidy(typed, 100) == read
