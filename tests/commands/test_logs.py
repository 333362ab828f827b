import json
import logging

import pytest
import structlog

from server import logs


def say_something(name: str = "server.somewhere") -> None:
    structlog.get_logger(name).warning("heard", length=9, text_pii="my secret", pii="my name")


@pytest.mark.parametrize(
    ("level", "form"), [("info", "console"), ("info", "json"), ("debug", "json")]
)
def test_what_people_said_stays_out_of_the_log(
    level: logs.Level, form: logs.Format, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(level, form)
    say_something()
    out, err = capsys.readouterr()
    assert out == ""
    assert "heard" in err
    assert "length" in err
    assert "my secret" not in err
    assert "my name" not in err


def test_somebody_who_debugs_at_a_console_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("debug", "console")
    say_something()
    assert "my secret" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_shows_no_variables(
    form: logs.Format, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("info", form)
    transcript = "my secret"
    try:
        int(transcript[:0])
    except ValueError:
        structlog.get_logger("server.somewhere").exception("failed")
    err = capsys.readouterr().err
    assert "ValueError: " in err
    assert "my secret" not in err


def test_each_line_in_json_is_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "json")
    say_something()
    logging.getLogger("somelibrary").warning("a warning")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["heard", "a warning"]
    assert all(line["level"] == "warning" for line in lines)


def test_libraries_speak_up_only_when_something_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("debug", "console")
    logging.getLogger("openai").debug("the whole request")
    logging.getLogger("openai").error("it failed")
    err = capsys.readouterr().err
    assert "the whole request" not in err
    assert "it failed" in err


def test_the_level_holds_for_our_own_lines(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("warning", "console")
    structlog.get_logger("server.somewhere").info("unimportant")
    assert capsys.readouterr().err == ""


STEERING = "\x9b31m\x1b[2J\x07board\u2028\u202e\x7f"


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize("text", [STEERING, f"{STEERING} with blanks\nforged line"])
def test_what_strangers_send_does_not_steer_the_terminal(
    form: logs.Format, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("info", form)
    structlog.get_logger("server.somewhere").warning("seen", board=text, several=[text])
    logging.getLogger("somelibrary").warning(text)
    lines = capsys.readouterr().err.removesuffix("\n").split("\n")
    assert len(lines) == 2
    assert all(letter.isprintable() for line in lines for letter in line)
    if form == "json":
        assert json.loads(lines[0])["board"] == text


def test_what_stands_in_an_exception_does_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("info", "console")
    structlog.get_logger("server.somewhere").error("failed", exc_info=ValueError(STEERING))
    err = capsys.readouterr().err
    assert "ValueError: " in err
    assert all(letter.isprintable() for letter in err if letter != "\n")
