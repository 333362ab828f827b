"""Whoever claims a robot's MAC address gets nothing of its owner's and leaves nothing; a household shares the robot alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from server.conversation import Engines
from server.simulator import Habits, Identity, Robot, open_robot
from server.simulator.line import LineError
from tests.end_to_end.running import Running, running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad
from tests.on_disk import bytes_of

MAC = "aa:bb:cc:00:11:22"
SECRET = "My cat is called Zqalphaqz."
AFAR = {"trust_loopback": False}
"""Nobody is local: every robot comes as it would from the network."""


@dataclass(frozen=True, slots=True)
class Claimant(Identity):
    """A robot that says that it has a certain Client-Id."""

    client_id: str = "another"

    @property
    def client(self) -> str:
        return self.client_id


@asynccontextmanager
async def house(data: Path, **sections: Any) -> AsyncIterator[tuple[Running, FakeLlm]]:
    model = FakeLlm(["はい。"])
    engines = Engines(FakeVad(), FakeAsr(), model, FakeTts(0.01, 0.01))
    async with running(data, engines, **{"access": AFAR, **sections}) as server:
        yield server, model


@asynccontextmanager
async def come(server: Running, robot: Identity) -> AsyncIterator[Robot]:
    async with open_robot(server.http_url, robot, Habits(protocol="pcm")) as connected:
        yield connected


def told(model: FakeLlm) -> str:
    """Return the last prompt, all of it."""
    prompt = model.prompts[-1]
    return "\n".join((prompt.system, *(message.content for message in prompt.messages)))


async def kept_words(server: Running) -> str:
    persons = await server.app.memory.archive.persons()
    return str([await server.app.memory.archive.dossier(person) for person in persons])


async def test_a_second_robot_of_a_known_mac_gets_nothing_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, retrieval={"gate": 0.0}) as (server, model):
        owner, second = Claimant(MAC, client_id="first"), Claimant(MAC, client_id="second")
        async with come(server, owner) as robot:
            await robot.write(SECRET)
        await server.app.memory.extract()
        async with come(server, owner) as robot:
            await robot.write("What is my cat called?")
        assert "Zqalphaqz" in told(model), "the owner is recognised, so there is something to steal"

        async with come(server, second) as robot:
            await robot.write("What is my cat called?")
            assert "Zqalphaqz" not in told(model)
            await robot.write("My dog is called Zqbetaqz.")
            await robot.write("What is my dog called?")
            assert "Zqbetaqz" in told(model), "what a guest said a moment ago is still in mind"
        await server.app.memory.extract()
        words = await kept_words(server)
        assert ("Zqalphaqz" in words, "Zqbetaqz" in words) == (True, False)
    left = bytes_of(tmp_path)
    assert (b"Zqalphaqz" in left, b"Zqbetaqz" in left) == (True, False)


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_without_its_token_a_known_robot_is_not_let_in(tmp_path: Path, token: str) -> None:
    async with house(tmp_path) as (server, _):
        async with come(server, Claimant(MAC, client_id="first")) as robot:
            await robot.write(SECRET)
        url = f"ws://127.0.0.1:{server.device_port}/pcm"
        for client in ("first", "second"):
            with pytest.raises(LineError, match="401"):
                async with open_robot(
                    url, Claimant(MAC, client_id=client), Habits(protocol="pcm"), token
                ):
                    pass


async def test_persons_of_a_household_share_the_robot_and_nothing_else(tmp_path: Path) -> None:
    sections = {
        "devices": {MAC: {"person": "taro"}},
        "persons": {"carol": {"names": ["Carol"]}},
        "households": {"home": {"devices": [MAC.upper().replace(":", "-")], "persons": ["carol"]}},
        "retrieval": {"gate": 0.0},
    }
    robot_of_the_house = Claimant(MAC, client_id="first")
    async with house(tmp_path, **sections) as (server, model):
        async with come(server, robot_of_the_house) as robot:
            await robot.write(SECRET)
            answer = await robot.write("This is Carol.")
            assert "Carol" in answer.reply
            await robot.write("What is my cat called?")
            assert "Zqalphaqz" not in told(model)
        async with come(server, robot_of_the_house) as robot:  # the next wake word
            await robot.write("My dog is called Zqbetaqz.")
        await server.app.memory.extract()
        known = {
            person: str(await server.app.memory.archive.dossier(person))
            for person in ("taro", "carol")
        }
    assert ("Zqalphaqz" in known["taro"], "Zqbetaqz" in known["taro"]) == (True, False)
    assert ("Zqalphaqz" in known["carol"], "Zqbetaqz" in known["carol"]) == (False, True)
