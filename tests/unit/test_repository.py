"""What must hold for all files of the repository: no addresses or paths of one machine, no dead links."""

import os
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
LARGEST_TEXT = 2_000_000

PATHS_OF_ONE_MACHINE = re.compile(r"(?<![\w./-])/(work|root|home/[a-z]\w*)/")
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
OWN_PATH = re.compile(
    r"(?<![\w/.-])(recordings|prompts|scripts|docs|tests|server|firmware_bridge)/[\w./-]*[\w/]"
)
# Put together, so that this file does not hold what it looks for.
REGISTRY_HOSTS = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("yarnpkg", "com"),
            ("deb", "debian", "org"),
            ("crates", "io"),
            ("proxy", "golang", "org"),
        )
    )
    + r"|index-url\s*[=:]\s*(https?|file):"
    + r"|(nexus|artifactory|devpi)\.[a-z]"
)


def tracked_files() -> list[Path]:
    """Return the files that git has or would take, without those that are ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    listed = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    names = listed.stdout.decode().split("\0")
    return [file for name in names if name and (file := REPOSITORY / name).is_file()]


def text_of(file: Path) -> str:
    """Return the text of a file; empty if it is none."""
    content = file.read_bytes()[:LARGEST_TEXT]
    return "" if b"\0" in content else content.decode("utf-8", errors="replace")


def places(pattern: re.Pattern[str], name: str, text: str) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def find(pattern: re.Pattern[str]) -> list[str]:
    return [
        place
        for file in tracked_files()
        for place in places(pattern, file.relative_to(REPOSITORY).as_posix(), text_of(file))
    ]


def dead_links(document: Path) -> list[str]:
    """Return the links of a Markdown file that lead to no file."""
    targets = [match["target"] for match in LINK.finditer(text_of(document))]
    paths = [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:", target)]
    return [path for path in paths if path and not (document.parent / path).exists()]


def test_no_file_names_the_host_of_a_package_registry() -> None:
    assert find(REGISTRY_HOSTS) == []


def test_no_file_holds_a_path_of_one_machine() -> None:
    assert find(PATHS_OF_ONE_MACHINE) == []


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "docs"])
def test_every_link_in_the_documentation_leads_somewhere(name: str) -> None:
    root = REPOSITORY / name
    documents = [root] if root.is_file() else sorted(root.rglob("*.md"))

    assert documents
    assert {file.name: dead for file in documents if (dead := dead_links(file))} == {}


def test_every_path_that_the_documentation_names_exists() -> None:
    documents = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]

    named = {match.group() for file in documents for match in OWN_PATH.finditer(text_of(file))}

    assert "scripts/run" in named
    assert [path for path in sorted(named) if not (REPOSITORY / path).exists()] == []


def test_every_decision_has_its_number_and_its_three_parts() -> None:
    decisions = sorted((REPOSITORY / "docs" / "decisions").glob("*.md"))

    assert [file.name[:4] for file in decisions] == [
        f"{number:04}" for number in range(1, len(decisions) + 1)
    ]
    for file in decisions:
        headings = re.findall(r"^## (.*)$", text_of(file), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequence"], file.name


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("see /wo" + "rk/main/x", True),
        ('"/ro' + 'ot/.cache"', True),
        ("/ho" + "me/taro/omoide", True),
        ("/home/<user>/", False),
        ("docs/work/ is ours", False),
        ("frame/work/x", False),
    ],
)
def test_paths_of_one_machine_are_recognised(line: str, is_found: bool) -> None:
    assert bool(places(PATHS_OF_ONE_MACHINE, "x", line)) is is_found


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("https://py" + "pi.org/simple", True),
        ("--extra-index-" + "url=https://example.org", True),
        ("PIP_INDEX_URL", False),
        ("https://www.python.org/downloads/", False),
    ],
)
def test_registries_are_recognised(line: str, is_found: bool) -> None:
    assert bool(places(REGISTRY_HOSTS, "x", line)) is is_found


def test_dead_links_are_recognised(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("[a](a.md) [b](b.md) [c](https://example.org/c.md) [d](#here) [e](a.md#x)")

    assert dead_links(document) == ["b.md"]
