"""What a recogniser invents, what is only a hesitation, and what somebody really said."""

import pytest

from server.plausibility import is_hesitation, is_implausible, is_often_invented, least_seconds
from server.turn import Transcript

SURE = (0.05, -0.2)
UNSURE = (0.6, -0.4)


def implausible(
    text: str, seconds: float, signs: tuple[float | None, float | None] = SURE, voiced: float = -1
) -> bool:
    heard = Transcript(text, "ja", *signs)
    return is_implausible(heard, "whisper base", seconds if voiced < 0 else voiced, seconds)


@pytest.mark.parametrize(
    "text",
    [
        "ん",
        "んー。",
        "ん ん ん",
        "you",
        "ご視聴ありがとうございました",
        "ご視聴ありがとうございました。",
        "最後までご視聴いただきありがとうございました!",
        "チャンネル登録よろしくお願いします",
        "字幕by ほにゃらら",
        "字幕:ほにゃらら",
        "スタッフの",
        "Thank you for watching.",
        "Thanks for watching!",
        "Subtitles by the Amara.org community",
        "Untertitel im Auftrag des ZDF für funk, 2017",
        "Untertitel der Amara.org-Community",
        "Sous-titres réalisés par la communauté d'Amara.org",
        "请不吝点赞 订阅 转发 打赏支持明镜与点点栏目",
        "谢谢大家观看",
        "시청해주셔서 감사합니다.",
        "Продолжение следует...",
    ],
)
def test_what_recognisers_invent_is_believed_only_if_the_sound_supports_it(text: str) -> None:
    assert implausible(text, 4.0, UNSURE)
    assert implausible(text, 4.0, (None, None)), "a recogniser that does not say how sure it is"
    assert implausible(text, 4.0, voiced=0.02)
    assert not implausible(text, 4.0), "somebody who reads it aloud"


@pytest.mark.parametrize(
    "text",
    [
        "うん",
        "はい",
        "OK",
        "Thank you.",
        "ありがとうございました",
        "おやすみなさい",
        "Bye.",
        "You are great.",
    ],
)
def test_what_people_say_to_a_robot_is_never_taken_for_invented(text: str) -> None:
    assert not is_often_invented(text, "whisper base")
    assert not implausible(text, least_seconds(text), UNSURE)


@pytest.mark.parametrize(
    "text",
    [
        "ご視聴ありがとうございましたって何？",
        "Thank you for watching my cat.",
        "スタッフの名前は？",
        "字幕って何",
    ],
)
def test_only_the_whole_text_counts(text: str) -> None:
    assert not is_often_invented(text, "whisper base")


def test_another_recogniser_is_taken_for_one_that_may_invent_any_of_them() -> None:
    assert is_often_invented("Thank you for watching.", "some service")


@pytest.mark.parametrize(
    ("text", "seconds", "is_believed"),
    [
        ("明日の天気を教えてください", 0.3, False),
        ("明日の天気を教えてください", 1.4, True),
        ("Could you tell me what the weather is like tomorrow?", 0.4, False),
        ("Could you tell me what the weather is like tomorrow?", 2.2, True),
        ("はい", 0.15, True),
        ("No.", 0.1, True),
    ],
)
def test_nobody_says_so_much_in_so_short_a_time(
    text: str, seconds: float, is_believed: bool
) -> None:
    assert implausible(text, seconds) is not is_believed


@pytest.mark.parametrize(
    "text", ["えーと。", "えっと…", "うーん", "あのー", "Um...", "uh", "Hmm.", "呃"]
)
def test_who_only_hesitates_has_said_nothing_yet(text: str) -> None:
    assert is_hesitation(text)


@pytest.mark.parametrize(
    "text",
    ["うん", "ううん", "はい", "ええ", "嗯", "えっと、明日", "Um, yes", "uh-huh", "Her", "あの人"],
)
def test_a_short_answer_is_no_hesitation(text: str) -> None:
    assert not is_hesitation(text)
