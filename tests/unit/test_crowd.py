from hypothesis import given
from hypothesis import strategies as st

from server.crowd import Crowd

ADDRESSES = st.sampled_from("abcd")


def test_the_newest_of_the_address_that_holds_the_most_has_to_go() -> None:
    crowd = Crowd[str](places=4, places_per_address=4)
    assert [crowd.enter("a", name) for name in ("a1", "a2", "a3")] == [None, None, None]
    assert crowd.enter("b", "b1") is None
    assert crowd.enter("c", "c1") == "a3"
    assert crowd.enter("a", "a4") == "a4"
    crowd.leave("b", "b1")
    assert crowd.enter("d", "d1") is None


def test_among_addresses_that_hold_as_many_the_newcomer_has_to_go() -> None:
    crowd = Crowd[str](places=2, places_per_address=9)
    crowd.enter("a", "a1")
    crowd.enter("b", "b1")
    assert crowd.enter("c", "c1") == "c1"


@given(st.lists(st.tuples(ADDRESSES, st.booleans()), max_size=60))
def test_there_are_never_more_than_there_are_places(steps: list[tuple[str, bool]]) -> None:
    crowd = Crowd[int](places=5, places_per_address=3)
    inside: dict[int, str] = {}
    for number, (address, is_leaving) in enumerate(steps):
        held = [one for one, place in inside.items() if place == address]
        if is_leaving:
            crowd.leave(address, held[0] if held else -1)
            inside.pop(held[0] if held else -1, None)
        else:
            inside[number] = address
            gone = crowd.enter(address, number)
            if gone is not None:
                del inside[gone]
            assert address in inside.values() or len(inside) == 5
        assert len(crowd) == len(inside) <= 5
        assert all(list(inside.values()).count(one) <= 3 for one in "abcd")
