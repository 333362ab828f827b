"""Errors, exit codes, and who owns standard output."""

import json
import signal
import subprocess
import sys
import textwrap

import pytest

from server.commands.report import Report, Tell, find_error
from server.commands.run import carry_out
from server.errors import ConfigError, LlmError, OmoideError


def run_python(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def test_json_has_standard_output_to_itself_even_beside_native_code_and_children() -> None:
    process = run_python(
        """
        import os, subprocess, sys
        from server.commands.report import Report
        from server.commands.run import carry_out

        async def work(tell):
            print("printed")
            os.write(1, b"native")
            subprocess.run([sys.executable, "-c", "print('child')"], check=True)
            tell("told")
            return Report({"text": "思い出 \\ud800"})

        print("exit", carry_out(work, nothing={}, as_json=True), file=sys.stderr)
        print("after")
        """
    )
    out, err = process.communicate(timeout=30)
    body, after = out.rsplit("\n", 2)[0], out.rsplit("\n", 2)[1]
    assert json.loads(body) == {"text": "思い出 \ud800"}
    assert after == "after"
    assert all(word in err for word in ("printed", "native", "child", "told", "exit 0"))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LlmError("llm-timeout", "Nothing came."), 1),
        (ConfigError("Line 3 is wrong."), 2),
        (ExceptionGroup("tasks", [OmoideError("port-unusable", "Taken.")]), 1),
    ],
)
def test_expected_errors_end_in_a_line_and_an_exit_code(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work(tell: Tell) -> Report:
        raise error

    assert carry_out(work, nothing={"reply": ""}, as_json=True) == code
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer["reply"] == ""
    assert err == f"error[{answer['error']['code']}]: {answer['error']['message']}\n"


def test_an_unexpected_error_is_not_hidden() -> None:
    async def work(tell: Tell) -> Report:
        raise ExceptionGroup("tasks", [OmoideError("a", "b"), ZeroDivisionError()])

    with pytest.raises(ExceptionGroup):
        carry_out(work, nothing={})


def test_a_report_that_is_not_well_fails(capsys: pytest.CaptureFixture[str]) -> None:
    async def work(tell: Tell) -> Report:
        tell("a line")
        return Report({}, ok=False)

    assert carry_out(work, nothing={}) == 1
    assert capsys.readouterr().out == "a line\n"


def test_the_error_is_found_however_deep_it_lies() -> None:
    error = OmoideError("a", "b")
    nested = ExceptionGroup("outer", [ExceptionGroup("inner", [error])])
    assert find_error(nested) is error
    assert find_error(ValueError()) is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows can't send a process SIGTERM")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("before", ["SIG_DFL", "SIG_IGN"])
def test_a_service_that_is_told_to_stop_closes_what_it_holds_and_exits_with_0(
    number: signal.Signals, before: str
) -> None:
    process = run_python(
        """
        import anyio, signal, sys
        signal.signal(signal.SIGINT, getattr(signal, sys.argv[1]))
        from server.commands.run import carry_out
        from server.commands.serve import stop_signals

        async def work(tell):
            try:
                tell("ready")
                await anyio.sleep_forever()
            finally:
                tell("closed")

        with stop_signals():
            sys.exit(carry_out(work, nothing={}, is_service=True))
        """,
        before,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == ("closed\n", "", 0)
