"""Keys of the API: whose memory they reach, how much they may do, how they end, and that nothing else opens anything."""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route

from server.access import Access
from server.api_keys import FILE, ApiKeys, digest_of, read_grant
from server.claims import Claim
from server.config import Config
from server.errors import AccessError
from server.grants import Grant, Scope
from server.memory.layers.proposals import By, Occasion
from server.web.permissions import scope_of
from server.web.routes import create_web
from tests.doors.premises import FROM_AFAR, ROBOT, Doors, FakeApp, open_doors
from tests.doors.visitors import AFAR, HERE, Open, refusal
from tests.memory.remembering import turn

pytestmark = pytest.mark.no_cover  # others run the same lines, and counting them doubles the time

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
MARKS = {"hana": "zqalphaqz", "taro": "zqbetaqz"}
KEYS = {
    name: {"sha256": digest_of(f"key of {name}"), "persons": persons, "scope": scope}
    for name, persons, scope in (
        ("reader", ["hana"], "read"),
        ("writer", ["hana"], "write"),
        ("admin", ["hana"], "admin"),
        ("two", ["hana", "taro"], "write"),
        ("all", ["*"], "admin"),
    )
}


ORDERS: list[Any] = [
    {"words": "cat", "person": "taro"},
    {"topic": "cat", "person": "taro"},
    {"memory": "off"},
    {"by": "hana"},
    {"layer": "soul", "person": "taro"},
]
"""What is asked of routes that change something."""


def bearer(name: str) -> dict[str, str]:
    return {**FROM_AFAR, "Authorization": f"Bearer key of {name}"}


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    limits = {"wrong_tokens_per_minute": 1000, "http_requests_per_minute": 10_000}
    async with open_doors(
        tmp_path, http=True, access={"keys": KEYS}, limits=limits, retrieval={"gate": 0.0}
    ) as opened:
        yield opened


async def talk(doors: Doors) -> dict[str, str]:
    """Let both persons say something; return the id of a fact of each."""
    app = doors.app
    for person, mark in MARKS.items():
        for number, text in enumerate((f"My cat is called {mark}.", f"I am allergic to {mark}.")):
            said = turn(text, NOON + timedelta(minutes=number), person, "en", f"{mark} {number}")
            app.memory.turn_finished(said)
            app.recent.turn_finished(said)
    await app.memory.extract()
    app.memory.turn_finished(
        turn(f"Tomorrow {MARKS['taro']} comes.", NOON, "taro", "en", "zqbetaqz 9")
    )
    app.memory.safety.heed(turn(f"I fell on {MARKS['taro']}.", NOON, "taro", "en", "zqbetaqz 1"))
    await app.memory.extract("hana")  # and wait until all is stored
    return {person: (await app.memory.archive.facts(person))[0].id for person in MARKS}


async def noticed(doors: Doors) -> tuple[dict[str, str], dict[str, str]]:
    """Let both say what is a danger sign, private, and an order to the persona; return an event and a proposal of each."""
    memory, layers = doors.app.memory, doors.app.layers
    for person, mark in MARKS.items():
        texts = (f"I fell over {mark}.", f"My pension goes to {mark}, it is too small.")
        for number, text in enumerate(texts):
            said = turn(text, NOON, person, "en", f"{mark} n{number}")
            memory.consenting.judge(said)
            memory.safety.heed(said)
            memory.turn_finished(said)
        occasion = Occasion(person, f"{mark} n0")
        await layers.write("identity", "rules", [f"Speak of {mark}."], By.VOICE, occasion)
    await memory.extract()
    events = {person: (await memory.desk.find(person))[0].id for person in MARKS}
    proposals = {one.occasion.person: one.id for one in layers.proposals()}
    return events, proposals


def routes(web: Any) -> Iterator[tuple[str, str]]:
    """Return method and path of everything that the application answers."""
    pending = list(web.routes)
    while pending:
        route = pending.pop()
        if isinstance(route, Route | APIRoute):
            yield from ((method, route.path) for method in sorted(route.methods or ()))
        else:
            pending += getattr(route, "routes", None) or getattr(
                route.original_router, "routes", []
            )


def filled(path: str, **values: str) -> str:
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", value)
    assert "{" not in path, f"say in the test what {path} is called with"
    return path


def reading_first(route: tuple[str, str]) -> tuple[bool, str]:
    return route[0] != "GET", " ".join(route)


async def test_no_route_gives_a_key_what_is_of_a_person_whom_it_does_not_name(doors: Doors) -> None:
    fact_ids = await talk(doors)
    memory = doors.app.memory
    before = await memory.archive.dossier("taro")
    (event,) = before.safety
    seen = 0
    async with doors.web() as web:
        for method, path in sorted(routes(create_web(doors.app)), key=reading_first):
            for person in ("taro", "hana"):
                where = filled(
                    path,
                    person=person,
                    fact_id=fact_ids["taro"],
                    event_id=event.id,
                    device_id=ROBOT,
                    name="x.bin",
                    layer="soul",
                    field="mission",
                    proposal_id="none",
                    webhook="none",
                )
                bodies: list[Any] = [{"person": "taro"}, {"text": "No."}, {}, *ORDERS]
                bodies += [{"facts": [fact_ids["taro"]]}, {"page": "zqbetaqz 9"}]
                for body in bodies if method in ("POST", "PUT") else [None]:
                    for name in ("reader", "admin"):
                        query = {"q": f"What about {MARKS['taro']}?", "superseded": "true"}
                        answer = await web.request(
                            method, where, params=query, json=body, headers=bearer(name)
                        )
                        assert MARKS["taro"] not in answer.text, (method, path, name, body)
                        seen += MARKS["hana"] in answer.text
    assert seen > 5, "the own person is seen, so the other would be"
    assert await memory.archive.dossier("taro") == before
    assert await memory.desk.get(event.id) == event


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/memory/taro/consent", None),
        ("PUT", "/api/memory/taro/consent", {"memory": "off"}),
        ("GET", "/api/memory/taro/user", None),
        ("POST", "/api/memory/taro/import", {"person": "taro"}),
        ("POST", "/api/memory/forget", {"person": "taro"}),
        ("GET", "/api/memory/audit", None),
        ("GET", "/api/safety/taro/soap", None),
        ("GET", "/api/safety/events?person=taro", None),
        ("POST", "/api/persona/draw", {"layer": "soul", "person": "taro"}),
    ],
)
async def test_no_scope_reaches_beyond_the_persons_of_a_key(
    doors: Doors, method: str, path: str, body: object
) -> None:
    await talk(doors)
    async with doors.web() as web:
        answer = await web.request(method, path, json=body, headers=bearer("admin"))
        assert answer.json()["error"]["code"] == "person-forbidden"
        answer = await web.request(method, path, json=body, headers=bearer("all"))
        assert "forbidden" not in answer.text


async def test_a_key_for_one_forgets_of_that_one_only_and_is_not_told_of_others(
    doors: Doors,
) -> None:
    fact_ids = await talk(doors)
    async with doors.web() as web:
        for body, code in (
            ({"facts": [fact_ids["taro"]]}, "fact-unknown"),
            ({"page": "zqbetaqz 9"}, "page-unknown"),
        ):
            answer = await web.post("/api/memory/forget", json=body, headers=bearer("writer"))
            assert answer.json()["error"]["code"] == code
        own = await web.post("/api/memory/forget", json={}, headers=bearer("writer"))
        assert own.is_success
        again = await web.post("/api/memory/forget", json={}, headers=bearer("writer"))
        assert again.json()["error"]["code"] == "person-unknown"
        assert "taro" not in again.text
    assert await doors.app.memory.archive.facts("taro")


async def test_a_key_reaches_the_persons_that_it_names(doors: Doors) -> None:
    fact_ids = await talk(doors)
    async with doors.web() as web:
        persons = await web.get("/api/memory/persons", headers=bearer("reader"))
        assert persons.json() == {"persons": ["hana"]}
        for name, person, status in (
            ("reader", "hana", 200),
            ("reader", "taro", 403),
            ("two", "taro", 200),
        ):
            answer = await web.get(f"/api/memory/{person}/facts", headers=bearer(name))
            assert (name, person, answer.status_code) == (name, person, status)
        unknown = await web.get("/api/memory/facts/no-such-fact", headers=bearer("reader"))
        others = await web.get(f"/api/memory/facts/{fact_ids['taro']}", headers=bearer("reader"))
        assert others.status_code == unknown.status_code == 404
        assert others.json()["error"]["code"] == unknown.json()["error"]["code"]
        assert (await web.get("/api/turns", headers=bearer("two"))).json()["turns"]


@pytest.mark.parametrize(
    ("name", "method", "path", "code"),
    [
        ("reader", "GET", "/api/memory/hana/export", ""),
        ("reader", "DELETE", "/api/memory/hana", "scope-missing"),
        ("reader", "GET", "/api/devices", "scope-missing"),
        ("writer", "DELETE", "/api/memory/hana", ""),
        ("writer", "GET", "/api/config", "scope-missing"),
        ("writer", "GET", "/metrics", "scope-missing"),
        ("admin", "GET", "/api/devices", ""),
        ("admin", "GET", "/api/config", ""),
        ("admin", "DELETE", "/api/memory/taro", "person-forbidden"),
        ("all", "DELETE", "/api/memory/taro", ""),
    ],
)
async def test_a_key_may_do_what_its_scope_says(
    doors: Doors, name: str, method: str, path: str, code: str
) -> None:
    async with doors.web() as web:
        answer = await web.request(method, path, headers=bearer(name))
    error = answer.json().get("error", {}) if "json" in answer.headers["content-type"] else {}
    assert (answer.status_code, error.get("code", "")) == (403 if code else 200, code)


def test_what_is_not_named_takes_the_widest_scope(tmp_path: Path) -> None:
    assert scope_of("GET", "/api/anything/new") is Scope.ADMIN
    assert scope_of("GET", "/api/memoryX") is Scope.ADMIN
    assert scope_of("POST", "/docs") is Scope.ADMIN


# Robots and programs that come with a key


def test_a_program_with_a_key_speaks_as_one_of_its_persons_only(open_access: Open) -> None:
    access = open_access(access={"keys": KEYS})
    two, one = "key of two", "key of writer"
    assert access.admit(Claim("", "app", two, "taro"), AFAR).person == "taro"
    assert access.admit(Claim("", "app", one), AFAR).person == "hana"
    for key, person in ((one, "taro"), (two, ""), (two, "somebody")):
        assert refusal(access, Claim("", "other", key, person)) == "person-forbidden"
    assert refusal(access, Claim("", "app", "key of reader", "hana")) == "scope-missing"


def test_a_key_takes_no_robot_of_a_person_that_it_does_not_name(open_access: Open) -> None:
    access = open_access(access={"keys": KEYS}, devices={ROBOT: {"person": "taro"}})
    access.visit(Claim(ROBOT, "first"), AFAR)
    assert refusal(access, Claim(ROBOT, "app", "key of writer", "hana")) == "person-forbidden"
    assert access.admit(Claim(ROBOT, "app", "key of two", "hana"), AFAR).person == "hana"


def test_nobody_whom_a_key_does_not_name_can_be_said_to_speak(open_access: Open) -> None:
    home = {"home": {"devices": [ROBOT], "persons": ["hana", "carol"]}}
    access = open_access(
        access={"keys": KEYS}, devices={ROBOT: {"person": "hana"}}, households=home
    )
    claim = Claim(ROBOT, "app", "key of writer")
    assert tuple(access.admit(claim, AFAR).household) == ("hana",), "carol's name opens nothing"
    here = access.admit(Claim("", "app", "key of writer"), AFAR)
    assert tuple(here.household) == ("hana",), "who says to be a guest can come back"
    assert "carol" in access.admit(Claim(ROBOT, "app", "key of all"), AFAR).household


def test_a_key_takes_no_robot_that_came_without_asking_for_a_token(open_access: Open) -> None:
    access = open_access(access={"keys": KEYS})
    access.admit(Claim(ROBOT, "first"), AFAR)
    assert refusal(access, Claim(ROBOT, "app", "key of writer")) == "person-forbidden"
    own = Claim("app", "mine", "key of writer")
    assert access.admit(own, AFAR).person == access.admit(own, AFAR).person == "hana"


# Keys themselves


def test_a_key_is_kept_as_a_hash_alone_and_ends_at_once_when_it_is_revoked(tmp_path: Path) -> None:
    running = Access(Config(), tmp_path, FakeApp(Config(), tmp_path).clock)
    keys = ApiKeys({}, tmp_path)
    key = keys.make("phone", Grant(Scope.READ, frozenset({"hana"})), NOON)
    assert running.check_api(AFAR, key) == Grant(Scope.READ, frozenset({"hana"}))
    assert key not in (tmp_path / FILE).read_text()
    assert key not in repr(keys.list())
    keys.revoke("phone")
    with pytest.raises(AccessError, match="not valid"):
        running.check_api(AFAR, key)


def test_a_broken_file_of_keys_opens_nothing(tmp_path: Path) -> None:
    keys = ApiKeys({}, tmp_path)
    key = keys.make("phone", Grant(Scope.READ, frozenset({"hana"})), NOON)
    rows = json.loads((tmp_path / FILE).read_text())
    for content in (
        "",
        "[]",
        "{",
        '{"keys": [{}]}',
        json.dumps({"keys": [{**rows["keys"][0], "sha256": ""}]}),
    ):
        (tmp_path / FILE).write_text(content)
        assert ApiKeys({}, tmp_path).grant_of(key) is None
        assert ApiKeys({}, tmp_path).grant_of("") is None


@pytest.mark.parametrize("name", ["", "Phone", "../secret", "-x", "a" * 41])
def test_a_key_has_a_plain_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(AccessError) as caught:
        ApiKeys({}, tmp_path).make(name, Grant(Scope.READ, frozenset({"hana"})), NOON)
    assert caught.value.code == "key-name-invalid"


def test_a_key_for_nobody_is_none() -> None:
    with pytest.raises(AccessError) as caught:
        read_grant("read", [])
    assert caught.value.code == "key-empty"


# Guessing


async def test_whoever_guesses_is_not_listened_to_for_a_while(tmp_path: Path) -> None:
    limits = {"wrong_tokens_per_minute": 3}
    async with open_doors(tmp_path, http=True, access={"keys": KEYS}, limits=limits) as doors:
        wrong = {**FROM_AFAR, "Authorization": "Bearer wrong"}
        async with doors.web() as web:
            answers = [await web.get("/api/turns", headers=wrong) for _ in range(5)]
            assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
            assert answers[-1].headers["retry-after"]
            right = await web.get("/api/turns", headers=bearer("all"))
            assert right.status_code == 429, "a right token would tell which one it was"
            assert (await web.get("/api/turns")).status_code == 200, "programs here go on"
        elsewhere = {"X-Real-IP": "203.0.113.77", "Device-Id": ROBOT, "Authorization": "wrong"}
        assert (await doors.refusal(headers=elsewhere))[0] == 429, "robots' door counts with it"


async def test_whoever_asks_too_often_has_to_wait(tmp_path: Path) -> None:
    limits = {"http_requests_per_minute": 10}
    async with open_doors(tmp_path, http=True, limits=limits) as doors, doors.web() as web:
        answers = [await web.get("/health", headers=FROM_AFAR) for _ in range(12)]
        assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 2
        assert (await web.get("/health")).status_code == 200
        assert answers[-1].headers["x-content-type-options"] == "nosniff"


async def test_whoever_knocks_too_often_at_the_robots_door_has_to_wait(tmp_path: Path) -> None:
    async with open_doors(tmp_path, limits={"http_requests_per_minute": 10}) as doors:
        robot = FROM_AFAR | {"Device-Id": "!", "Client-Id": "x"}
        codes = [(await doors.refusal(headers=robot))[1]["code"] for _ in range(12)]
    assert codes == ["device-id-invalid"] * 10 + ["too-many-requests"] * 2


def test_local_programs_keep_what_they_may(open_access: Open) -> None:
    access = open_access(access={"keys": KEYS})
    assert access.check_api(HERE, "").is_for_everybody
    assert access.admit(Claim("", "app", "", "taro"), HERE).person == "taro"
