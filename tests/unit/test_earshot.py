"""What a robot may hear: its own voice, its own name, and the end of its own reply."""

import numpy as np
import pytest

from firmware_bridge.events import (
    Audio,
    ListeningMode,
    ListenStarted,
    PlayAudio,
    SentenceStarted,
    SpeechStarted,
    SpeechStopped,
    WakeWord,
)
from server.audio import LISTENING_RATE, from_pcm, to_pcm
from server.config_hearing import EchoSection
from server.earshot import Earshot
from server.echo import EchoPath
from server.parroting import repeats

HUM = 4000 * np.sin(np.arange(960) / 960 * 2 * np.pi * 30)
FRAME = Audio(to_pcm(HUM.astype(np.int16)), LISTENING_RATE)
PLAYED = PlayAudio(to_pcm(np.full(1440, 50, np.int16)), 24_000)
AS_LOUD = PlayAudio(
    to_pcm((4000 * np.sin(np.arange(1440) / 1440 * 2 * np.pi * 30)).astype(np.int16)), 24_000
)
GUARD = 0.2


def open_earshot(
    mode: ListeningMode = "auto", *, aec: bool = False, enabled: bool = True
) -> Earshot:
    section = EchoSection(enabled=enabled)
    earshot = Earshot(
        24_000,
        section,
        EchoPath(section),
        guard_seconds=GUARD,
        echo_cancelled=aec,
        wake_words=("Hi StackChan", "スタックチャン"),
    )
    earshot.take(ListenStarted(mode), 0.0)
    return earshot


def speak(earshot: Earshot, frames: int, at: float, text: str = "はい。") -> None:
    earshot.note(SpeechStarted(), at)
    earshot.note(SentenceStarted(text), at)
    for _ in range(frames):
        earshot.note(PLAYED, at)


def hears(earshot: Earshot, at: float) -> bool:
    """Whether a sound is heard that was made in the 60 ms until then."""
    event = earshot.take(FRAME, at)
    assert isinstance(event, Audio)
    return bool(np.abs(from_pcm(event.pcm)).max() > 1000)


def test_the_microphone_counts_as_open_when_the_last_frame_was_played_and_not_when_it_was_sent() -> (
    None
):
    earshot = open_earshot()
    assert hears(earshot, 0.5)
    speak(earshot, 10, at=1.0)  # is played until 1.6
    earshot.note(SpeechStopped(interrupted=True), 1.1)
    assert not hears(earshot, 1.2)
    assert not hears(earshot, 1.6 + GUARD - 0.01)
    assert hears(earshot, 1.6 + GUARD + 0.2)


def test_a_robot_that_says_that_it_listens_has_nothing_left_to_play() -> None:
    earshot = open_earshot()
    speak(earshot, 10, at=1.0)
    earshot.take(ListenStarted("auto"), 1.05)
    assert not hears(earshot, 1.3), "it answers to the end of the reply before"
    earshot.note(SpeechStopped(interrupted=True), 1.31)
    earshot.take(ListenStarted("auto"), 1.35)
    assert hears(earshot, 1.35 + GUARD + 0.2)


@pytest.mark.parametrize(("mode", "aec"), [("realtime", False), ("auto", True)])
def test_with_echo_cancellation_who_is_louder_than_any_echo_is_heard(
    mode: ListeningMode, aec: bool
) -> None:
    earshot = open_earshot(mode, aec=aec)
    speak(earshot, 10, at=1.0)
    assert hears(earshot, 1.2)


@pytest.mark.parametrize(("aec", "heard"), [(False, True), (True, False)])
def test_who_talks_over_the_first_words_of_a_robot_is_heard_if_it_cancels_its_own_echo(
    aec: bool, heard: bool
) -> None:
    earshot = open_earshot("realtime", aec=aec)
    earshot.note(SpeechStarted(), 1.0)
    for _ in range(10):
        earshot.note(AS_LOUD, 1.0)
    assert hears(earshot, 1.3) is heard


def test_push_to_talk_is_never_deaf() -> None:
    earshot = open_earshot("manual")
    speak(earshot, 10, at=1.0)
    assert earshot.take(FRAME, 1.2) is FRAME


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("mode", ["auto", "manual"])
def test_how_loud_somebody_was_is_known_with_and_without_the_guard(
    mode: ListeningMode, enabled: bool
) -> None:
    earshot = open_earshot(mode, enabled=enabled)
    assert earshot.level_db is None
    earshot.take(FRAME, 0.5)
    assert earshot.level_db == pytest.approx(-21.3, abs=0.5)


def test_a_robot_does_not_wake_up_to_its_own_name() -> None:
    """VPE#537."""
    earshot = open_earshot("realtime")
    woken = WakeWord("Hi StackChan")
    speak(earshot, 20, at=1.0, text="わたしはスタックチャンです。")
    assert earshot.take(woken, 1.8) is None
    assert earshot.take(woken, 6.0) is woken
    earshot.note(SpeechStopped(), 6.0)
    speak(earshot, 20, at=7.0, text="はい、なんでしょう。")
    assert earshot.take(woken, 7.5) is woken


@pytest.mark.parametrize(
    ("heard", "language"),
    [
        ("今日はとてもいい天気なので", "ja"),
        ("きょうわとてもいいてんき", "ja"),
        ("so why don't we take a walk", "en"),
    ],
)
def test_a_near_copy_of_what_was_being_said_is_the_robot(heard: str, language: str) -> None:
    said = (
        "今日はとてもいい天気なので、公園まで行きましょう。",
        "So why don't we take a walk to the park?",
    )
    assert repeats(heard, said, language, 0.75)
    assert not repeats(heard, (), language, 0.75)


@pytest.mark.parametrize(
    ("heard", "language"),
    [("はい", "ja"), ("明日の予定は何ですか", "ja"), ("stop", "en"), ("what time is it", "en")],
)
def test_what_others_say_meanwhile_is_no_copy(heard: str, language: str) -> None:
    said = ("はい、今日はとてもいい天気なので、公園まで行きましょう。", "Please stop at the gate.")
    assert not repeats(heard, said, language, 0.75)
