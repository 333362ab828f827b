"""Ctrl-C: whenever it comes, the process ends at once with its own code and one line."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signal that a test could send"
)


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )


def test_while_packages_are_imported() -> None:
    ended = run_python(
        """
        import signal, sys
        from server.__main__ import main

        class Package:
            def find_spec(self, name, path=None, target=None):
                if name == "server.cli":
                    try:
                        signal.raise_signal(signal.SIGINT)
                    except BaseException as error:
                        raise ImportError("broken halfway") from error

        sys.meta_path.insert(0, Package())
        main()
        """
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Stopped.\n")


AT_WORK = """
    import signal, sys, threading, time, types
    from server.__main__ import main

    def app(**_):
        threading.Thread(target=time.sleep, args=(60,), daemon={daemon}).start()
        sys.stdout.write("what was said")
        {end}

    sys.modules["server.cli"] = types.SimpleNamespace(app=app)
    main()
"""


@pytest.mark.parametrize("daemon", [True, False])
@pytest.mark.parametrize(
    ("end", "code", "told"),
    [
        ("signal.raise_signal(signal.SIGINT)", 130, "Stopped.\n"),
        ("raise BaseExceptionGroup('two', [KeyboardInterrupt()])", 130, "Stopped.\n"),
        ("sys.exit(130)", 130, "Stopped.\n"),
        ("sys.exit(2)", 2, ""),
        ("sys.exit(0)", 0, ""),
    ],
)
def test_while_a_model_is_being_loaded_nobody_waits_for_it(
    daemon: bool, end: str, code: int, told: str
) -> None:
    ended = run_python(AT_WORK.format(daemon=daemon, end=end))
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "what was said", told)


def test_a_fault_is_not_taken_for_an_interrupt() -> None:
    ended = run_python(
        AT_WORK.format(
            daemon=True, end="raise BaseExceptionGroup('two', [KeyboardInterrupt(), ValueError()])"
        )
    )
    assert ended.returncode == 1
    assert "ValueError" in ended.stderr


def test_who_starts_it_deaf_to_interrupts_is_obeyed() -> None:
    ended = run_python(
        """
        import signal, sys, types
        from server.__main__ import main

        signal.signal(signal.SIGINT, signal.SIG_IGN)

        def app(**_):
            signal.raise_signal(signal.SIGINT)
            print("went on")

        sys.modules["server.cli"] = types.SimpleNamespace(app=app)
        main()
        """
    )
    assert (ended.returncode, ended.stdout) == (0, "went on\n")
