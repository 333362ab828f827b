import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from server.readings import apply_readings
from server.speakable import plain_text, speakable


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("**Hi** see [docs](https://a.b/c)", "Hi see docs"),
        (
            "***Very*** *important* __word__ _it_ ~~gone~~ `code`",
            "Very important word it gone code",
        ),
        ("**Hi. There", "Hi. There"),
        ("There**", "There"),
        ("snake_case stays", "snake_case stays"),
        ("# Title #", "Title"),
        ("- item", "item"),
        ("* item", "item"),
        ("1. a", "a"),
        ("2) b", "b"),
        ("- [x] done", "done"),
        ("1. Mix\n2. Bake", "Mix, Bake"),
        ("> quoted", "quoted"),
        ("one\n\n---\n\ntwo", "one, two"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a, b, 1, 2"),
        ("Hello\n```python\nprint(1)\n```\nbye", "Hello, bye"),
        ("![a cat](http://x/y.png)", "a cat"),
        ("[a](http://x/(y)) b", "a b"),
        ('[a](http://x "title") b', "a b"),
        ("It is so.[^1]", "It is so."),
        (r"\*not bold\*", "not bold"),
        ("See https://www.example.com/a?b=c.", "See example.com."),
        ("<https://example.com/a>", "example.com"),
        ("Write to a.b@example.com", "Write to a.b@example.com"),
    ],
)
def test_markdown_and_addresses_are_not_spoken(text: str, spoken: str) -> None:
    assert speakable(text, "en") == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("**重要**：明日", "重要：明日"),
        ("・りんご\n・みかん", "りんご、みかん"),
        ("| 名前 | 年 |", "名前、年"),
        ("詳しくはhttps://www.example.com/x?y=1を見て。", "詳しくはexample.comを見て。"),
        ("楽しい😀です", "楽しいです"),
        ("楽しい！😀👨‍👩‍👧🇯🇵👍🏽", "楽しい！"),
        ("嬉しい(^_^)です", "嬉しいです"),
        ("すみませんm(_ _)m", "すみません"),
        ("よろしく(^_^)v", "よろしく"),
        ("(´・ω・`) しょぼん", "しょぼん"),
        ("♪ラララ♪", "ラララ"),
        ("1️⃣番", "1番"),
        ("こ\u200bん\x07に\ufeffちは", "こんにちは"),
        ("ｱｲｳ", "アイウ"),
        ("「はい」（笑）と言った。", "「はい」と言った。"),
    ],
)
def test_pictures_and_invisible_characters_are_not_spoken(text: str, spoken: str) -> None:
    assert speakable(text, "ja") == spoken


@pytest.mark.parametrize(
    "text", ["(see below)", "東京（日本）", "（・重要・）", "(A) or (B)", "f(x)", "(3>2)", "C++"]
)
def test_ordinary_brackets_and_signs_are_no_kaomoji(text: str) -> None:
    assert speakable(text, "en") == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "…",
        "！",
        "？！",
        "😀",
        "---",
        "(^_^)",
        "<think>hmm</think>",
        "<think>never closed",
        "```\ncode\n```",
        "```\nnever closed",
        'set_led({"red":255})',
        "self.robot.set_head_angles(yaw=10, pitch=5)",
        '{"summary":"x"}',
        '[{"name": "set_led"}]',
        "<|tool|>",
        '<tool_call>{"name":"x"}</tool_call>',
        '[TOOL_CALLS][{"name":"x"}]',
        "[joy]",
        "[foo]",
        "<foo>",
        "（笑）",
        "|---|---|",
    ],
)
@pytest.mark.parametrize("language", ["ja", "en", "zh", "fr"])
def test_nothing_to_say_gives_nothing(text: str, language: str) -> None:
    assert speakable(text, language) == ""


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ('I call set_led({"red":255}) now.', "I call now."),
        ('Sure! {"summary":"x"} Ok.', "Sure! Ok."),
        ("【foo】Hi", "Hi"),
        ("【重要】明日", "【重要】明日"),
        ("Hi [foo] there", "Hi there"),
        ("Hi <|im_end|>there", "Hi there"),
        ("<b>Hi</b> <br/>there", "Hi there"),
        ("<think>a</think>Hi", "Hi"),
    ],
)
def test_leaks_inside_a_text_are_not_spoken(text: str, spoken: str) -> None:
    assert speakable(text, "en") == spoken


def test_characters_that_mean_something_in_xml_stay_plain() -> None:
    assert speakable('Tom & "Jerry" <3', "en") == 'Tom & "Jerry" <3'
    assert speakable("Tom &amp; &quot;Jerry&quot; &lt;3", "en") == 'Tom & "Jerry" <3'


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("2026-09-23", "2026年9月23日"),
        ("2026/9/3に", "2026年9月3日に"),
        ("3.14", "3.14"),
        ("1,234円", "1234円"),
        ("10:30", "10時30分"),
        ("１０：３０に", "10時30分に"),
        ("9:00", "9時"),
        ("10:00〜12:30", "10時から12時30分"),
        ("50%", "50パーセント"),
        ("9９．５％", "99.5パーセント"),
        ("1/2", "2分の1"),
        ("カップ1/2杯", "カップ2分の1杯"),
        ("½カップ", "2分の1カップ"),
        ("9/23", "9月23日"),
        ("3/4(土)", "3月4日(土)"),
        ("3〜5時", "3から5時"),
        ("3-5人", "3から5人"),
        ("3:2", "3対2"),
        ("気温は-5℃", "気温はマイナス5度"),
        ("¥500と$20と￥1,000", "500円と20ドルと1000円"),
        ("バージョン2.0.1", "バージョン2点0点1"),
        ("2×3=6", "2かける3は6"),
        ("080-1234-5678", "080-1234-5678"),
        ("2026-13-45", "2026-13-45"),
        ("25.3度", "25.3度"),
    ],
)
def test_japanese_numbers(text: str, spoken: str) -> None:
    assert speakable(text, "ja") == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("2026-09-23", "September 23, 2026"),
        ("3.14", "3.14"),
        ("1,234 dollars", "1,234 dollars"),
        ("10:30", "10:30"),
        ("3:00", "3 o'clock"),
        ("3:00 PM", "3 PM"),
        ("10:05", "10 oh 5"),
        ("9:00-10:30", "9 o'clock to 10:30"),
        ("50%", "50%"),
        ("1/2", "one half"),
        ("3/4 cup", "3 quarters cup"),
        ("1 1/2 cups", "1 and one half cups"),
        ("9/23", "September 23"),
        ("24/7", "24 7"),
        ("7/32", "7 over 32"),
        ("$20", "20 dollars"),
        ("$1", "1 dollar"),
        ("$3.50", "3 dollars and 50 cents"),
        ("$1.5 million", "1.5 million dollars"),
        ("5 km at 60 km/h", "5 kilometers at 60 kilometers per hour"),
        ("20°C", "20 degrees Celsius"),
        ("No. 5", "number 5"),
        ("#3", "number 3"),
        ("Jan. 5 and Sept 23, see p. 2", "January 5 and September 23, see page 2"),
        ("cats vs. dogs, approx. 5", "cats versus dogs, approximately 5"),
        ("1-3", "1 to 3"),
        ("2025-2026", "2025 to 2026"),
        ("555-1234", "555-1234"),
        ("−5", "minus 5"),
        ("a < b", "a is less than b"),
        ("and/or", "and or"),
    ],
)
def test_english_numbers(text: str, spoken: str) -> None:
    assert speakable(text, "en") == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("2026-09-23 10:30", "2026年9月23日 10点30分"),
        ("50%", "百分之50"),
        ("1/2", "2分之1"),
        ("-5℃", "负5度"),
    ],
)
def test_chinese_numbers(text: str, spoken: str) -> None:
    assert speakable(text, "zh") == spoken


def test_other_languages_keep_their_numbers() -> None:
    assert speakable("le 2026-09-23 à 10:30", "fr") == "le 2026-09-23 à 10:30"


def test_readings_replace_the_longest_form_once() -> None:
    readings = {"日本": "にっぽん", "日本橋": "にほんばし", "にほん": "XX", "今日": "きょう"}
    assert apply_readings("今日は日本の日本橋", readings) == "きょうはにっぽんのにほんばし"


def test_readings_in_latin_letters_match_whole_words() -> None:
    assert apply_readings("AIのMAIL、AI", {"AI": "エーアイ"}) == "エーアイのMAIL、エーアイ"
    assert apply_readings("a+b", {"a+b": "sum", "": "never"}) == "sum"


def test_readings_are_part_of_what_is_spoken() -> None:
    assert speakable("**一日**です", "ja", {"一日": "ついたち"}) == "ついたちです"


def test_plain_text_is_for_the_display() -> None:
    assert (
        plain_text("1. **Hi** 😀 at 10:30, see [docs](https://a.b)")
        == "1. Hi 😀 at 10:30, see docs"
    )


WRITTEN = st.lists(
    st.sampled_from(
        [
            *"*_#`~|[](){}<>!-/.:%$¥°'\"\\ \n0159aZあ漢、。（）😀\u200d\ufe0f\u20e3",
            *(
                "1,234",
                "10:30",
                "2026-09-23",
                "1/2",
                "&amp;",
                "https://a.b/c",
                "| a |",
                "- ",
                "1. ",
            ),
        ]
    ),
    max_size=30,
).map("".join)


@given(WRITTEN | st.text(), st.sampled_from(["ja", "en", "zh", "ko"]))
@example("‼\ufe0f", "ja")
def test_speech_holds_something_to_say_and_nothing_to_trip_over(text: str, language: str) -> None:
    spoken = speakable(text, language)
    assert spoken == "" or any(character.isalnum() for character in spoken)
    assert spoken == spoken.strip()
    assert not set(spoken) & set("\n|~`\\\x00\u200b\ud800😀")
    assert "  " not in spoken
