"""Values that can't work: each is refused with its line and with what to write instead."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from server.config import OpenAiLlmSection, load_config
from server.errors import ConfigError


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


def refusal(file: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "asr:\n  language: japanese\n",
            "2: asr.language: write a language as two letters, such as ja or en, or auto (found 'japanese').",
        ),
        (
            "asr:\n  languages: [JA]\n",
            "2: asr.languages.0: write a language as two letters, such as ja or en. Did you mean 'ja'? (found 'JA').",
        ),
        ("asr:\n  languages: ja\n", "2: asr.languages: write a list, such as [ja] (found 'ja')."),
        ("history:\n  turns: many\n", "2: history.turns: write a whole number (found 'many')."),
        (
            "persona:\n  name: ''\n",
            "2: persona.name: write something; it may not be empty (found '').",
        ),
        ("tts:\n  speed: 9\n", "2: tts.speed: write a number of at most 2 (found 9)."),
        (
            "llm:\n  embedded:\n    temperature: 9\n",
            "3: llm.embedded.temperature: write a number of at most 2 (found 9).",
        ),
        (
            "recording:\n  keep_audio: 7\n",
            "2: recording.keep_audio: write true or false (found 7).",
        ),
        (
            "history:\n  window_minutes: .inf\n",
            "2: history.window_minutes: write a number of at most 525600 (found inf).",
        ),
        (
            "extraction:\n  silence_minutes: 1000000000\n",
            "2: extraction.silence_minutes: write a number of at most 525600 (found 1000000000).",
        ),
        (
            "summaries:\n  retry_minutes: 1000000000\n",
            "2: summaries.retry_minutes: write a number of at most 525600 (found 1000000000).",
        ),
        (
            "summaries:\n  follow_up_days: 99999999999\n",
            "2: summaries.follow_up_days: write a number of at most 3650 (found 99999999999).",
        ),
        ("llm: openai\n", "1: llm: write keys with values below it (found 'openai')."),
    ],
)
def test_a_wrong_value_is_told_what_to_write_instead(file: Path, text: str, message: str) -> None:
    assert refusal(written(file, text)) == f"{file}:{message}"


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("server.host", "999.0.0.1", "0.0.0.0 for all"),
        ("server.host", "http://localhost", "0.0.0.0 for all"),
        ("server.public_url", "ftp://talk.example", "https://voice.example.org"),
        ("server.public_url", "https://", "https://voice.example.org"),
        ("server.public_url", "https://talk.example:99999", "https://voice.example.org"),
        ("server.public_url", "https://talk .example", "https://voice.example.org"),
        ("server.public_url", "https://user:pw@talk.example", "https://voice.example.org"),
        ("server.public_url", "192.168.1.256", "https://voice.example.org"),
        ("access.trusted_proxies", "[my-proxy]", "172.16.0.0/12"),
        ("access.allowed_hosts", "['https://robot.lan']", "robot.lan"),
        ("access.api_token", "ひらけごま", "ASCII"),
        ("llm.openai.base_url", "127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("llm.openai.base_url", "http://", "http://127.0.0.1:11434/v1"),
        ("llm.openai.base_url", "http://127.0.0.1:port/v1", "http://127.0.0.1:11434/v1"),
        ("llm.openai.api_key", "sk-geheim あ", "Copy it once more"),
        ("llm.openai.api_key", '"sk-geheim \\x01"', "Copy it once more"),
        ("llm.openai.api_key", "sk-ge heim", "Copy it once more"),
        ("llm.openai.api_key_env", "sk-geheim", "OPENAI_API_KEY"),
        ("llm.openai.api_key_env", "gsk_Geheim42", "OPENAI_API_KEY"),
    ],
)
def test_a_value_that_can_not_work_is_refused_with_its_line(
    file: Path, key: str, value: str, hint: str
) -> None:
    *sections, name = key.split(".")
    lines = [f"{'  ' * depth}{section}:" for depth, section in enumerate(sections)]
    lines.append(f"{'  ' * len(sections)}{name}: {value}")

    message = refusal(written(file, "\n".join(lines)))

    assert message.startswith(f"{file}:{len(lines)}: {key}")
    assert hint in message
    assert "geheim" not in message.lower()


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("server", "host", "''"),
        ("server", "host", "'::'"),
        ("server", "host", "'desk-robots.lan'"),
        ("server", "public_url", "'talk.example:8003'"),
        ("server", "public_url", "'wss://[2001:db8::1]:8443/omoide'"),
        ("access", "trusted_proxies", "[10.0.0.0/24, fd00::1]"),
        ("access", "allowed_hosts", "[Robot.lan, talk.example]"),
    ],
)
def test_addresses_may_be_written_in_every_usual_way(
    file: Path, section: str, key: str, value: str
) -> None:
    config = load_config(written(file, f"{section}:\n  {key}: {value}\n"))

    found = getattr(getattr(config, section), key)
    assert value == (f"[{', '.join(found)}]" if isinstance(found, tuple) else f"'{found}'")


@pytest.mark.parametrize(
    ("ports", "refused"),
    [
        ({"device_port": 9000, "http_port": 9000}, True),
        ({"device_port": 8003}, True),
        ({"http_port": 8000}, True),
        ({"device_port": 0, "http_port": 0}, False),
        ({"device_port": 8003, "http_port": 8000}, False),
    ],
)
def test_the_doors_need_ports_of_their_own(
    ports: dict[str, int], refused: bool, file: Path
) -> None:
    text = "server:\n" + "".join(f"  {name}: {port}\n" for name, port in ports.items())
    written(file, text)

    if refused:
        assert "Give each a port of its own" in refusal(file)
    else:
        load_config(file)


def test_blanks_and_line_ends_around_keys_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    configured = OpenAiLlmSection(api_key=SecretStr(" sk-hush\n"))
    monkeypatch.setenv("MY_KEY", "sk-other\n")
    from_environment = OpenAiLlmSection(api_key_env="MY_KEY")

    assert configured.key() == "sk-hush"
    assert from_environment.key() == "sk-other"


def test_a_key_in_the_environment_that_can_be_none_names_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-geheim あ")

    with pytest.raises(ConfigError) as caught:
        OpenAiLlmSection(api_key_env="MY_KEY").key()

    assert str(caught.value).startswith("environment variable MY_KEY: a key holds")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("zone", ["Tokio", "Asia/Tokyoo", "../etc", "+09:00"])
def test_a_time_zone_that_does_not_exist_is_refused(file: Path, zone: str) -> None:
    message = refusal(written(file, f"server:\n  timezone: '{zone}'\n"))

    assert message.startswith(f"{file}:2: server.timezone: no time zone is called {zone!r}")
    assert "Asia/Tokyo" in message


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "Europe/Berlin", "UTC", "America/New_York"])
def test_time_zones_go_by_their_usual_names(file: Path, zone: str) -> None:
    config = load_config(written(file, f"server:\n  timezone: {zone}\n"))

    assert config.server.timezone == zone


def test_a_secret_of_the_wrong_kind_is_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("llm:\n  openai:\n    api_key: 12345678\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert "12345678" not in str(caught.value)
    assert ":3: llm.openai.api_key" in str(caught.value)
