import pytest

from server.config import LimitsSection
from server.errors import AccessError
from server.places import Place, Places


class House:
    """Places for four, two of them for one address, and who had to leave."""

    def __init__(self) -> None:
        self.places = Places(LimitsSection(connections=4, connections_per_address=2))
        self.left: list[str] = []

    def enter(
        self,
        name: str,
        household: str,
        *,
        known: bool = False,
        returning: bool = False,
        greeted: bool = True,
    ) -> Place:
        place = Place(household, known, returning, lambda: self.left.append(name), greeted)
        self.places.take(place)
        return place

    def refuses(self, name: str, household: str, *, known: bool = False) -> bool:
        try:
            self.enter(name, household, known=known)
        except AccessError as error:
            return error.code == "too-many-connections"
        return False


@pytest.fixture
def house() -> House:
    return House()


def test_one_address_cannot_take_every_place(house: House) -> None:
    house.enter("a1", "a")
    house.enter("a2", "a")
    assert house.refuses("a3", "a")
    assert not house.refuses("b", "b")
    assert house.left == []


def test_programs_on_this_machine_share_the_total_only(house: House) -> None:
    for number in range(4):
        house.enter(f"here {number}", "")
    assert house.refuses("here 5", "")


def test_a_known_robot_takes_the_place_of_a_stranger_the_silent_ones_first(house: House) -> None:
    house.enter("talks", "a")
    house.enter("known", "b", known=True)
    house.enter("silent", "c", greeted=False)
    house.enter("talks too", "d")
    house.enter("one", "e", known=True)
    house.enter("two", "f", known=True)
    assert house.left == ["silent", "talks"]


def test_strangers_never_push_anybody_out_nor_does_a_known_robot_another(house: House) -> None:
    for number in range(3):
        house.enter(f"known {number}", str(number), known=True)
    house.enter("stranger", "s")
    assert house.refuses("other stranger", "o")
    house.enter("known too", "k", known=True)
    assert house.left == ["stranger"]
    assert house.refuses("known as well", "w", known=True)


def test_a_known_robot_whose_address_is_crowded_takes_a_place_of_that_address(house: House) -> None:
    house.enter("elsewhere", "b", greeted=False)
    house.enter("a1", "a")
    house.enter("a2", "a", known=True)
    house.enter("a3", "a", known=True)
    assert house.left == ["a1"]
    assert house.refuses("a4", "a", known=True)


def test_a_returning_robot_needs_no_place_of_its_own(house: House) -> None:
    for number in range(2):
        house.enter(f"a{number}", "a")
    house.enter("back again", "a", returning=True)
    assert house.left == []


def test_a_place_is_free_once_its_connection_has_ended(house: House) -> None:
    first = house.enter("a1", "a")
    house.enter("a2", "a")
    house.places.leave(first)
    house.places.leave(first)
    house.enter("a3", "a")
    assert house.refuses("a4", "a")
