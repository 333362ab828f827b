import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.body import PROFILES, Emotion, emoji_for, emotion_named, emotion_of_emoji, face_for
from server.errors import OmoideError
from server.markup import ReplyReader

# fmt: off
XIAOZHI_NAMES = {
    "neutral", "happy", "laughing", "funny", "sad", "angry", "crying", "loving", "embarrassed", "surprised", "shocked",
    "thinking", "winking", "cool", "relaxed", "delicious", "kissy", "confident", "sleepy", "silly", "confused",
}
# fmt: on


def read(text: str, chunk: int = 1) -> tuple[str, list[Emotion]]:
    """Return what a reader makes of a reply that comes in chunks of the same size: the text, and the emotions in it."""
    reader = ReplyReader()
    events = [
        event
        for start in range(0, len(text), chunk)
        for event in reader.feed(text[start : start + chunk])
    ]
    events += reader.close()
    emotions = [event for event in events if isinstance(event, Emotion)]
    return "".join(event for event in events if not isinstance(event, Emotion)), emotions


@pytest.mark.parametrize("chunk", [1, 3, 100])
@pytest.mark.parametrize(
    ("reply", "text", "emotion"),
    [
        ("[joy] Hello.", " Hello.", Emotion.HAPPY),
        ("(smile) Hello.", " Hello.", Emotion.HAPPY),
        ('<face name="joy"/>やあ。', "やあ。", Emotion.HAPPY),
        ("<face name='sorrow' />やあ。", "やあ。", Emotion.SAD),
        ("<face name=fun/>やあ。", "やあ。", Emotion.LAUGHING),
        ("<emotion=angry>No!", "No!", Emotion.ANGRY),
        ("<joy>hi</joy>", "hi", Emotion.HAPPY),
        ("[face:joy]はい。", "はい。", Emotion.HAPPY),
        ("[face: Angry] はい。", " はい。", Emotion.ANGRY),
        ("【喜】はい。", "はい。", Emotion.HAPPY),
        ("【照れ】はい。", "はい。", Emotion.EMBARRASSED),
        ("[眠い]はい。", "はい。", Emotion.SLEEPY),
        ("（笑）はい。", "はい。", Emotion.LAUGHING),
        ("［", "［", None),
        ("[開心]你好。", "你好。", Emotion.HAPPY),
        ("[😢] Oh.", " Oh.", Emotion.SAD),
        ("それは面白い（笑）。", "それは面白い。", Emotion.LAUGHING),
    ],
)
def test_a_tag_in_any_form_is_read_and_taken_out(
    reply: str, text: str, emotion: Emotion | None, chunk: int
) -> None:
    assert read(reply, chunk) == (text, [emotion] if emotion else [])


@pytest.mark.parametrize("chunk", [1, 100])
@pytest.mark.parametrize("reply", ["[foo]Hi.", "【ほげ】Hi.", "[very happy]Hi.", "\n [foo]Hi."])
def test_an_unknown_tag_at_the_head_is_taken_out_and_neutral(reply: str, chunk: int) -> None:
    text, emotions = read(reply, chunk)
    assert (text.strip(), emotions) == ("Hi.", [Emotion.NEUTRAL])


@pytest.mark.parametrize("chunk", [1, 100])
@pytest.mark.parametrize(
    "reply", ["<foo>Hi.", "<foo bar='x'/>Hi.", "Hi[foo].", "Hi<foo>.", "Hi[1]."]
)
def test_an_unknown_tag_elsewhere_is_taken_out_without_an_emotion(reply: str, chunk: int) -> None:
    assert read(reply, chunk) == ("Hi.", [])


@pytest.mark.parametrize("chunk", [1, 100])
@pytest.mark.parametrize(
    "reply",
    [
        "(foo) Hi.",
        "Dr. Sato (see p. 2) said so.",
        "東京（とうきょう）です。",
        "お知らせです。【重要】明日です。",
        "a < b and c > d",
        "I <3 you",
        "x<y and z",
        "see [the docs](https://a.b/c).",
        "[Click here](https://a.b/c) now.",
        "It is [note that this is never closed",
        "[1, 2, 3] is a list.",
        "Array [1, 2, 3] is a list.",
        "tail [joy",
        "a``",
        "~~no~~ 3~5",
    ],
)
def test_ordinary_brackets_survive(reply: str, chunk: int) -> None:
    assert read(reply, chunk) == (reply, [])


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
@pytest.mark.parametrize(
    "hidden",
    [
        'robot.led({"red": 1})',
        'print("a)b")',
        "set_led(255, (0))",
        '{"a": "}", "b": [1]}',
        "<think>a < b, {</think>",
        "<tool_call>\n{}\n</tool_call>",
        "```\n[joy]\n```",
        "<!-- [joy] -->",
        "<｜tool▁calls▁begin｜>",
    ],
)
def test_what_is_not_for_the_listener_is_taken_out(hidden: str, chunk: int) -> None:
    assert read(f"A {hidden} b.", chunk) == ("A  b.", [])


def test_emotions_come_at_their_place_in_the_text() -> None:
    assert ReplyReader().feed("[joy]やあ。<face name='sad'/>でも。") == [
        Emotion.HAPPY,
        "やあ。",
        Emotion.SAD,
        "でも。",
    ]


def test_an_ordinary_bracket_is_not_held_back_for_long() -> None:
    for opener in "[【(<":
        reader = ReplyReader()
        said = "".join(map(str, reader.feed("はい" + opener + "あ " * 120)))
        assert opener in said, opener


@given(
    st.lists(
        st.sampled_from(
            [
                *"<>[]【】()（）{}\"'`~/|=:_.- \naZ1笑喜あ",
                "[joy]",
                "<think>",
                "</think>",
                "```",
                '{"a":',
                "set_led(",
                "<face name=",
                "<!--",
                "-->",
                "<|",
                "|>",
                "[x](",
                "x" * 70,
                "y " * 110,
            ]
        ),
        max_size=30,
    ).map("".join),
    st.data(),
)
def test_any_cutting_into_chunks_reads_the_same(reply: str, data: st.DataObject) -> None:
    reader = ReplyReader()
    rest, pieces = reply, []
    while rest:
        length = data.draw(st.integers(1, len(rest)))
        pieces += reader.feed(rest[:length])
        rest = rest[length:]
    pieces += reader.close()
    emotions = [piece for piece in pieces if isinstance(piece, Emotion)]
    text = "".join(piece for piece in pieces if not isinstance(piece, Emotion))
    assert (text, emotions) == read(reply, max(1, len(reply)))


@pytest.mark.parametrize(
    ("name", "emotion"),
    [
        ("joy", Emotion.HAPPY),
        ("ANGRY", Emotion.ANGRY),
        ("ｓｏｒｒｏｗ", Emotion.SAD),
        ("fun", Emotion.LAUGHING),
        ("喜", Emotion.HAPPY),
        ("怒", Emotion.ANGRY),
        ("哀", Emotion.SAD),
        ("楽", Emotion.LAUGHING),
        ("笑", Emotion.LAUGHING),
        ("照れ", Emotion.EMBARRASSED),
        ("驚き", Emotion.SURPRISED),
        ("眠い", Emotion.SLEEPY),
        ("悲しい", Emotion.SAD),
        ("emotion: sad", Emotion.SAD),
        ("ボタン", None),
        ("", None),
    ],
)
def test_names_of_emotions(name: str, emotion: Emotion | None) -> None:
    assert emotion_named(name) is emotion


def test_the_vocabulary_is_that_of_the_firmware() -> None:
    assert {emotion.value for emotion in Emotion} == XIAOZHI_NAMES
    assert all(emotion_named(emotion.value) is emotion for emotion in Emotion)


def test_the_emoji_of_an_emotion_means_that_emotion() -> None:
    assert all(emotion_of_emoji(emoji_for(emotion)) is emotion for emotion in Emotion)
    assert len({emoji_for(emotion) for emotion in Emotion}) == len(Emotion)


def test_the_first_telling_emoji_counts() -> None:
    assert emotion_of_emoji("寿司🍣おいしい😋😭") is Emotion.DELICIOUS
    assert emotion_of_emoji("寿司🍣") is None


def test_every_profile_gets_only_faces_that_it_can_draw() -> None:
    drawn = {
        "xiaozhi": XIAOZHI_NAMES,
        "stackchan": {
            "neutral",
            "happy",
            "laughing",
            "angry",
            "sad",
            "crying",
            "sleepy",
            "doubtful",
        },
        "vrm": {"neutral", "joy", "angry", "sorrow", "fun"},
    }
    assert set(PROFILES) == set(drawn)
    for profile in PROFILES:
        assert {face_for(emotion, profile) for emotion in Emotion} <= drawn[profile]


@pytest.mark.parametrize(
    ("emotion", "xiaozhi", "stackchan", "vrm"),
    [
        (Emotion.HAPPY, "happy", "happy", "joy"),
        (Emotion.LAUGHING, "laughing", "laughing", "fun"),
        (Emotion.THINKING, "thinking", "doubtful", "neutral"),
        (Emotion.SURPRISED, "surprised", "doubtful", "joy"),
        (Emotion.LOVING, "loving", "happy", "joy"),
        (Emotion.CRYING, "crying", "crying", "sorrow"),
        (Emotion.NEUTRAL, "neutral", "neutral", "neutral"),
    ],
)
def test_faces_by_profile(emotion: Emotion, xiaozhi: str, stackchan: str, vrm: str) -> None:
    assert face_for(emotion, "xiaozhi") == xiaozhi
    assert face_for(emotion, "stackchan") == stackchan
    assert face_for(emotion, "vrm") == vrm


def test_only_sleepy_sends_the_stackchan_to_sleep() -> None:
    assert [e for e in Emotion if face_for(e, "stackchan") == "sleepy"] == [Emotion.SLEEPY]


@pytest.mark.parametrize(("name", "face"), [("joy", "joy"), ("fun", "fun"), ("sorrow", "sorrow")])
def test_the_names_of_aiavatarkit_come_back_as_they_went_in(name: str, face: str) -> None:
    emotion = emotion_named(name)
    assert emotion is not None
    assert face_for(emotion, "vrm") == face


def test_an_unknown_profile_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(OmoideError, match="stackchan") as raised:
        face_for(Emotion.HAPPY, "stackchn")
    assert raised.value.code == "face-profile-unknown"
