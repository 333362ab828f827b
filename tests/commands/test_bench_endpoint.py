"""`omoide bench endpoint` and its corpus: true labels, true verdicts, and what a word-aware end is worth. Without models."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from server.audio import LISTENING_RATE, Samples, level_dbfs
from server.commands.bench_endpoint import AT_ONCE, OURS, PLAIN, WAYS, WORDLESS, Parts, measure
from server.commands.endpoint_trials import Span, Trial, judge, plain_spans
from server.commands.noises import active_level, to_wave
from server.commands.utterances import (
    NOISES,
    PAUSES_MS,
    SNRS_DB,
    Label,
    Plan,
    Studio,
    plan_corpus,
    read_corpus,
    write_corpus,
)
from server.config import Config
from server.errors import ConfigError
from tests.fakes import FakeAsr, FakeTts, FakeVad, silence, voice

PAUSED = Plan("paused", "ja", "tuning", "pause", ("これは", "長い文です。"), 600)
CONFIG = Config()


async def made(plan: Plan, seed: int = 1) -> tuple[Samples, Label]:
    return await Studio(FakeTts(seconds=0.0), seed).make(plan)


def test_the_corpus_has_every_kind_pause_noise_and_language() -> None:
    plans = plan_corpus(["ja", "en"])
    assert len(plans) >= 120
    assert len({plan.id for plan in plans}) == len(plans)
    counted = Counter((plan.language, plan.part) for plan in plans)
    assert min(counted.values()) >= 40
    for language in ("ja", "en"):
        own = [plan for plan in plans if plan.language == language]
        kinds = {plan.kind for plan in own}
        assert {"finished", "pause", "hesitation", "counting", "short", "soft_end", "more"} == kinds
        assert {plan.pause_ms for plan in own} == {0, *PAUSES_MS}
        assert {(plan.noise, plan.snr_db) for plan in own if plan.noise} == {
            (noise, snr) for noise in NOISES for snr in SNRS_DB
        }


def test_a_language_without_sentences_is_refused() -> None:
    with pytest.raises(ConfigError, match="ja"):
        plan_corpus(["fr"])


async def test_labels_say_to_the_sample_where_the_voice_and_its_pauses_are() -> None:
    sound, label = await made(PAUSED)
    [(start, end)] = label.pauses
    assert end - start == 0.6 * LISTENING_RATE
    assert level_dbfs(sound[label.first_voiced : start]) > -25
    assert level_dbfs(sound[start:end]) < -60
    assert level_dbfs(sound[end : label.last_voiced]) > -25
    assert level_dbfs(sound[: label.first_voiced]) < -60
    assert level_dbfs(sound[label.last_voiced :]) < -60


async def test_a_seed_makes_the_same_sound_again_and_another_one_another() -> None:
    noisy = replace(PAUSED, noise="fan", snr_db=10)
    first, again, other = [(await made(noisy, seed))[0] for seed in (1, 1, 2)]
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("snr_db", SNRS_DB)
async def test_noise_is_as_loud_as_its_label_says(noise: str, snr_db: int) -> None:
    sound, label = await made(replace(PAUSED, noise=noise, snr_db=snr_db))
    behind = active_level(to_wave(sound[label.last_voiced :]))
    assert 20 * np.log10(behind) == pytest.approx(-20 - snr_db, abs=2.0)


async def test_a_soft_end_is_twenty_decibels_lower() -> None:
    sound, label = await made(replace(PAUSED, kind="soft_end", pieces=("これは長い文です。",)))
    length = label.last_voiced - label.first_voiced
    loud = sound[label.first_voiced : label.first_voiced + length // 3]
    soft = sound[label.last_voiced - length // 4 : label.last_voiced]
    assert level_dbfs(loud) - level_dbfs(soft) == pytest.approx(20, abs=1.5)


@pytest.mark.parametrize(
    ("spans", "heard", "cut", "delay_ms", "others"),
    [
        ([Span(900, 1600 + 8000)], True, False, 500, 0),
        ([Span(900, 1400), Span(1450, 9600)], True, True, 500, 0),
        ([Span(900, None)], True, False, None, 0),
        ([Span(900, 1600 + 16_000 * 3)], True, False, None, 0),
        ([Span(0, 800), Span(900, 9600), Span(20_000, 30_000)], True, False, 500, 2),
        ([], False, False, None, 0),
    ],
)
def test_a_verdict_tells_early_late_and_missing_ends(
    spans: list[Span], heard: bool, cut: bool, delay_ms: float | None, others: int
) -> None:
    label = Label("x.wav", "ja", "tuning", "pause", "", 0, "", 0, True, 1000, 1600, ())
    found = judge(spans, label)
    assert (found.heard, found.cut, found.delay_ms, found.others) == (heard, cut, delay_ms, others)


def test_a_plain_silence_ends_where_it_says() -> None:
    sound = np.concatenate([silence(0.5), voice(1.0), silence(0.5), voice(0.5), silence(2.0)])
    [span] = plain_spans(sound, FakeVad().session(), 512, CONFIG.vad, 700)
    assert span.end is not None
    assert 0.7 <= span.end / LISTENING_RATE - 2.5 <= 0.77
    two = plain_spans(sound, FakeVad().session(), 512, CONFIG.vad, 400)
    assert len(two) == 2


async def test_without_a_recogniser_nothing_is_asked() -> None:
    trial = Trial(FakeVad(), CONFIG.vad, CONFIG.endpointing, 200)
    [span] = await trial.spans(np.concatenate([voice(1.0), silence(2.0)]))
    assert span.end is not None
    assert trial.texts == 0


async def test_ways_are_compared_on_the_same_utterances(tmp_path: Path) -> None:
    tts = FakeTts(seconds=0.0)
    labels = await write_corpus(tmp_path, tts, ["ja"], 1, lambda line: None)
    assert read_corpus(tmp_path) == labels
    some = [one for one in labels if one.kind in ("pause", "finished") and not one.noise][-6:]
    assert {one.pause_ms for one in some} == {300, 600, 900}
    parts = Parts(FakeVad(), FakeVad(), FakeAsr(*["明日の"] * 50, seconds=0.0), tts)
    told: list[str] = []
    report = await measure(CONFIG, parts, tmp_path, some, told.append)
    ways = report.data["ways"]
    assert isinstance(ways, dict)
    assert set(ways) == set(WAYS)
    cut = {way: ways[way]["all"]["cut_off"] for way in WAYS}
    assert cut[PLAIN] == cut[WORDLESS] == 2, "the pauses of 900 ms"
    assert cut[OURS] == cut[AT_ONCE] == 0
    assert report.data["recogniser"]["recognitions"] > 0  # type: ignore[index]
    assert f"\n{OURS}" in told


def test_a_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="make_utterances"):
        read_corpus(tmp_path)
