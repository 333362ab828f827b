"""The configuration: complete, commented, and helpful about every mistake."""

import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr

from server.config import Config, DeviceSection, load_config
from server.config_file import Location, read_config_file
from server.errors import ConfigError

REPOSITORY = Path(__file__).parents[2]
OUR_FILE = REPOSITORY / "config.yaml"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("OMOIDE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def refusal(file: Path | None) -> str:
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    return str(raised.value)


def dotted(key: Location) -> str:
    return ".".join(map(str, key))


def keys_of(model: type[BaseModel], above: Location = ()) -> Iterator[Location]:
    for name, field in model.model_fields.items():
        yield (*above, name)
        section = field.annotation
        if inspect.isclass(section) and issubclass(section, BaseModel):
            yield from keys_of(section, (*above, name))


# -- the file in the repository ----------------------------------------------------------------------------------------


def test_the_file_in_the_repository_says_the_defaults() -> None:
    assert load_config(OUR_FILE) == load_config(None)


@pytest.mark.parametrize("key", list(keys_of(Config)), ids=dotted)
def test_every_key_stands_in_the_file_in_the_repository(key: Location) -> None:
    assert key in read_config_file(OUR_FILE).lines


def test_the_sections_of_the_file_stand_in_the_order_of_the_pipeline() -> None:
    assert list(read_config_file(OUR_FILE).values) == list(Config.model_fields)


def test_every_key_of_the_file_is_explained() -> None:
    lines = OUR_FILE.read_text(encoding="utf-8").splitlines()

    silent = [line for line in lines if line.startswith("  ") and not re.search(" #|:$", line)]

    assert [line for line in silent if not line.lstrip().startswith("#")] == []


# -- where values come from --------------------------------------------------------------------------------------------


def test_without_a_file_the_defaults_count() -> None:
    assert load_config(None).server.device_port == 8000


def test_the_file_wins_over_the_defaults(file: Path) -> None:
    config = load_config(written(file, "endpointing:\n  silence_ms: 900\n"))

    assert config.endpointing.silence_ms == 900
    assert config.endpointing.preroll_ms == Config().endpointing.preroll_ms


def test_the_environment_wins_over_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMOIDE_LLM__OPENAI__MODEL", "from-environment")

    config = load_config(
        written(file, "llm:\n  openai:\n    model: from-file\n    max_tokens: 50\n")
    )

    assert config.llm.openai.model == "from-environment"
    assert config.llm.openai.max_tokens == 50


def test_variables_for_paths_are_no_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMOIDE_CONFIG", "somewhere.yaml")
    monkeypatch.setenv("OMOIDE_DATA", "somewhere")

    assert load_config(None) == Config()


def test_a_device_may_be_given_a_person_by_its_mac_address(file: Path) -> None:
    config = load_config(written(file, 'devices:\n  "aa:bb:cc:dd:ee:ff":\n    person: hanako\n'))

    assert config.devices == {"aa:bb:cc:dd:ee:ff": DeviceSection(person="hanako")}


def test_a_mac_address_of_decimal_digits_is_no_number(file: Path) -> None:
    config = load_config(written(file, "devices:\n  10:20:30:40:50:06:\n    person: hanako\n"))

    assert config.devices == {"10:20:30:40:50:06": DeviceSection(person="hanako")}


def test_keys_of_memory_are_not_shown(file: Path) -> None:
    text = "embedding:\n  openai:\n    api_key: sk-hush\nindex:\n  api_key: hush\n"

    config = load_config(written(file, text))

    assert "hush" not in repr(config)
    assert config.embedding.openai.key() == "sk-hush"


def test_what_is_calibrated_may_be_set_or_left_to_the_calibration(file: Path) -> None:
    text = "retrieval:\n  gate: 0.4\nextraction:\n  duplicate_threshold: null\n"

    config = load_config(written(file, text))

    assert config.retrieval.gate == 0.4
    assert config.extraction.duplicate_threshold is None


def test_keys_of_services_are_not_shown(file: Path) -> None:
    config = load_config(
        written(file, "llm:\n  openai:\n    api_key: sk-hush\naccess:\n  api_token: hush\n")
    )

    assert "hush" not in repr(config)
    assert config.llm.openai.api_key == SecretStr("sk-hush")


@pytest.mark.parametrize("text", ["", "# nothing\n", "llm:\n", "llm:\n  openai:\n", "devices:\n"])
def test_empty_files_sections_and_keys_mean_the_defaults(file: Path, text: str) -> None:
    assert load_config(written(file, text)) == Config()


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("vad:\n  speech_threshold: 0.2\n", "at most vad.speech_threshold, which is 0.2"),
        (
            "llm:\n  embedded:\n    least_prompt_tokens: 900\n    most_prompt_tokens: 300\n",
            "at least llm.embedded.least_prompt_tokens, which is 900",
        ),
    ],
)
def test_limits_that_contradict_each_other_are_refused(file: Path, text: str, limit: str) -> None:
    assert limit in refusal(written(file, text))


def test_a_missing_file_is_named(file: Path) -> None:
    message = refusal(file)

    assert str(file) in message
    assert "--config" in message


def test_a_file_that_is_not_text_is_named(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00server")

    assert str(file) in refusal(file)


def test_broken_yaml_names_the_line(file: Path) -> None:
    assert f"{file}:2: this is not valid YAML" in refusal(written(file, "llm:\n\tengine: auto\n"))


@pytest.mark.parametrize("text", ["- llm\n", "hello\n", "42\n"])
def test_a_file_without_sections_is_refused(file: Path, text: str) -> None:
    assert f"{file}:1: expected sections" in refusal(written(file, text))


@pytest.mark.parametrize(
    ("text", "line", "wrong", "nearest"),
    [
        ("\nendpointig:\n  silence_ms: 1\n", 2, "endpointig", "endpointing"),
        ("endpointing:\n  silence: 1\n", 2, "endpointing.silence", "silence_ms"),
        ("endpointing:\n  Silence_ms: 1\n", 2, "endpointing.Silence_ms", "silence_ms"),
        ("llm:\n  openai:\n    modl: x\n", 3, "llm.openai.modl", "model"),
        ("devices:\n  robot:\n    persn: x\n", 3, "devices.robot.persn", "person"),
        ("persons:\n  hanako:\n    voyce: x\n", 3, "persons.hanako.voyce", "voice"),
    ],
)
def test_a_misspelt_key_names_line_and_nearest(
    file: Path, text: str, line: int, wrong: str, nearest: str
) -> None:
    assert refusal(written(file, text)) == (
        f"{file}:{line}: {wrong}: there is no such key. Did you mean {nearest!r}?"
    )


def test_a_key_like_no_other_lists_what_is_possible(file: Path) -> None:
    message = refusal(written(file, "history:\n  zzz: 1\n"))

    assert message.endswith("Possible here: buffer, turns, window_minutes.")


def test_a_misspelt_engine_names_the_engines_and_the_nearest(file: Path) -> None:
    message = refusal(written(file, "tts:\n  speed: 1\nvad:\n  engine: silerro\n"))

    assert message == (
        f"{file}:4: vad.engine: 'silerro' is not one of silero, webrtc. Did you mean 'silero'?"
    )


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("server:\n  device_port: 99999\n", 2, "server.device_port"),
        ("vad:\n  speech_threshold: 1.5\n", 2, "vad.speech_threshold"),
        ("asr:\n  languages: [ja, english]\n", 2, "asr.languages.1"),
        ("history:\n  turns: many\n", 2, "history.turns"),
        ("llm: openai\n", 1, "llm"),
    ],
)
def test_a_value_out_of_range_names_its_line(file: Path, text: str, line: int, key: str) -> None:
    assert refusal(written(file, text)).startswith(f"{file}:{line}: {key}: ")


def test_every_mistake_is_listed(file: Path) -> None:
    message = refusal(written(file, "history:\n  turn: 1\ntts:\n  speed: 9\n"))

    assert [line.split(": ")[0] for line in message.splitlines()] == [f"{file}:2", f"{file}:4"]


@pytest.mark.parametrize(
    ("text", "second", "key", "first"),
    [
        ("llm:\n  engine: auto\ntts:\n  speed: 1\nllm:\n  engine: openai\n", 5, "llm", 1),
        ("tts:\n  speed: 1\n  speed: 2\n", 3, "tts.speed", 2),
    ],
)
def test_a_key_that_stands_twice_names_both_lines(
    file: Path, text: str, second: int, key: str, first: int
) -> None:
    assert refusal(written(file, text)) == (
        f"{file}:{second}: {key} stands here a second time (first in line {first}). Remove one of them."
    )


def test_a_misspelt_section_in_the_environment_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMOIDE_LM__ENGINE", "openai")

    assert refusal(None) == (
        "environment variable OMOIDE_LM__ENGINE: there is no section 'lm'. Did you mean 'LLM'?"
    )


def test_a_misspelt_key_in_the_environment_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMOIDE_LLM__ENGIN", "openai")

    assert refusal(None) == (
        "environment variable OMOIDE_LLM__ENGIN: there is no such key. Did you mean 'engine'?"
    )


def test_a_misspelt_key_in_the_environment_is_told_from_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMOIDE_LLM__OPENAI__MODL", "x")

    message = refusal(written(file, "llm:\n  engine: openai\n"))

    assert "OMOIDE_LLM__OPENAI__MODL" in message
    assert "Did you mean 'model'?" in message


def test_a_value_that_is_no_json_in_the_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMOIDE_DEVICES", "{not json")

    assert refusal(None).startswith("environment variable OMOIDE_DEVICES: write the value as JSON")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OMOIDE_SERVICE_HOST", "10.0.0.1"),
        ("OMOIDE_SERVICE_PORT_HTTP", "8003"),
        ("OMOIDE_PORT", "tcp://10.0.0.1:8003"),
        ("OMOIDE_PORT_8003_TCP_ADDR", "10.0.0.1"),
        ("OMOIDE_ACCESS__TRUSTED_PROXIES", ""),
        ("OMOIDE_LLM__OPENAI__ENABLE_THINKING", ""),
    ],
)
def test_variables_that_containers_bring_along_set_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert load_config(None) == Config()


def test_a_folder_of_time_zones_is_no_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMOIDE_SERVER__TIMEZONE", "Asia")
    assert "no time zone is called 'Asia'" in refusal(None)


def test_a_list_in_the_environment_is_written_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMOIDE_ASR__LANGUAGES", "ja")

    assert refusal(None) == (
        "environment variable OMOIDE_ASR__LANGUAGES: write the value as JSON, such as "
        """OMOIDE_ASR__LANGUAGES='["ja", "en"]'."""
    )


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("OMOIDE_HISTORY__TURNS", "many", "OMOIDE_HISTORY__TURNS"),
        ("omoide_history__turns", "many", "omoide_history__turns"),
        ("OMOIDE_ASR__LANGUAGES", '["ja", "english"]', "OMOIDE_ASR__LANGUAGES, 1"),
        ("OMOIDE_ASR__LANGUAGES", '"ja"', "OMOIDE_ASR__LANGUAGES"),
        ("OMOIDE_TTS", '{"speed": 9}', "OMOIDE_TTS, speed"),
        ("OMOIDE_ASR__LANGUAGES__0", "ja", "OMOIDE_ASR__LANGUAGES__0"),
    ],
)
def test_a_mistake_in_the_environment_is_not_blamed_on_the_file(
    name: str, value: str, place: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)

    message = refusal(
        written(file, "history:\n  turns: 5\nasr:\n  languages: [ja, en]\ntts:\n  speed: 1\n")
    )

    assert message.startswith(f"environment variable {place}: ")
    assert str(file) not in message


def test_a_mistake_in_the_file_is_not_blamed_on_the_environment(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMOIDE_TTS", '{"piper_voice": "x"}')

    assert refusal(written(file, "tts:\n  speed: 9\n")).startswith(f"{file}:2: tts.speed: ")


@pytest.mark.parametrize(
    "text", ["llm: " + "[" * 100_000, "a: &a {b: *a}", "llm: " + "{a: " * 30_000 + "1"]
)
def test_a_file_that_is_nested_without_an_end_is_named(file: Path, text: str) -> None:
    assert f"{file}" in refusal(written(file, text))


def test_a_file_may_begin_with_the_mark_that_editors_write(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + b"server:\r\n  http_port: 8123\r\n")
    assert load_config(file).server.http_port == 8123


def test_off_is_a_word_where_it_names_something_and_no_where_it_does_not(file: Path) -> None:
    text = "summaries: {engine: off}\nstore: {encryption: off}\naccess: {trust_loopback: off}\nllm: {openai: {web_search: yes}}\n"
    config = load_config(written(file, text))
    assert (config.summaries.engine, config.store.encryption) == ("off", "off")
    assert (config.access.trust_loopback, config.llm.openai.web_search) == (False, True)
