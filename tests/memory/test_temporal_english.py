"""English expressions of time, said on Sunday, 27 September 2026 at 14:00 in Tokyo."""

import pytest

from tests.memory.times import read

ROWS = [
    # Day words.
    ("Today is nice", "Today = 2026-09-27"),
    ("See you tomorrow", "tomorrow = 2026-09-28"),
    ("the day after tomorrow", "the day after tomorrow = 2026-09-29"),
    ("I slept badly yesterday", "yesterday = 2026-09-26"),
    ("It came the day before yesterday", "the day before yesterday = 2026-09-25"),
    # Counted.
    ("in three days", "in three days = 2026-09-30"),
    ("3 days ago", "3 days ago = 2026-09-24"),
    ("twenty-one days ago", "twenty-one days ago = 2026-09-06"),
    ("a couple of days ago", "a couple of days ago = 2026-09-25"),
    ("two weeks ago", "two weeks ago = 2026-09-13"),
    ("a week ago today", "a week ago today = 2026-09-20"),
    ("three weeks from tomorrow", "three weeks from tomorrow = 2026-10-19"),
    ("three months ago", "three months ago = 2026-06-01..2026-06-30"),
    ("6 months from now", "6 months from now = 2027-03-01..2027-03-31"),
    ("two years ago", "two years ago = 2024-01-01..2024-12-31"),
    ("half a year ago", "half a year ago = 2026-03-01..2026-03-31"),
    ("in two or three days", "in two or three days = 2026-09-29..2026-09-30"),
    ("an hour ago", "an hour ago = 2026-09-27T13:00"),
    ("in half an hour", "in half an hour = 2026-09-27T14:30"),
    ("in an hour and a half", "in an hour and a half = 2026-09-27T15:30"),
    ("two days before Christmas", "two days before Christmas = 2026-12-23"),
    ("the day after Christmas", "the day after Christmas = 2026-12-26"),
    # Weeks and weekdays: the seed's case first.
    ("By the way, I'm going to Hakone with friends next Saturday.", "next Saturday = 2026-10-03"),
    ("last Friday", "last Friday = 2026-09-25"),
    ("this Friday", "this Friday = 2026-10-02"),
    ("this Saturday", "this Saturday = 2026-10-03"),
    ("next Sunday", "next Sunday = 2026-10-04"),
    ("last Sunday", "last Sunday = 2026-09-20"),
    ("next Sat", "next Sat = 2026-10-03"),
    ("the Saturday after next I fly", "Saturday after next = 2026-10-10"),
    ("the Monday before last", "Monday before last = 2026-09-14"),
    ("a week from Saturday", "a week from Saturday = 2026-10-10"),
    ("next week", "next week = 2026-09-28..2026-10-04"),
    ("last week", "last week = 2026-09-14..2026-09-20"),
    ("the week after next", "the week after next = 2026-10-05..2026-10-11"),
    ("Friday of last week", "Friday of last week = 2026-09-18"),
    ("next week on Tuesday", "next week on Tuesday = 2026-09-29"),
    ("from Friday to Sunday", "Friday to Sunday = 2026-10-02..2026-10-04"),
    ("the second Friday of October", "the second Friday of October = 2026-10-09"),
    ("Today is Sunday", "Today is Sunday = 2026-09-27"),
    # Weekends.
    ("Do you remember my weekend plans?", "weekend = 2026-10-03..2026-10-04"),
    ("this weekend", "this weekend = 2026-09-26..2026-09-27"),
    ("next weekend", "next weekend = 2026-10-03..2026-10-04"),
    ("last weekend was fun", "last weekend = 2026-09-19..2026-09-20"),
    # Months and their parts.
    ("early next month", "early next month = 2026-10-01..2026-10-10"),
    ("late October", "late October = 2026-10-21..2026-10-31"),
    ("in mid-May", "mid-May = 2027-05-11..2027-05-20"),
    ("the end of May", "the end of May = 2027-05-25..2027-05-31"),
    ("What have I got on Thursday?", "Thursday = 2026-10-01"),
    ("Tell me what I've got this Friday", "this Friday = 2026-10-02"),
    ("Have we got anything on Saturday", "Saturday = 2026-10-03"),
    ("What's he got on Monday", "Monday = 2026-09-28"),
    ("I got a present on Thursday", "Thursday = 2026-09-24"),
    ("on the tenth of next month", "the tenth of next month = 2026-10-10"),
    ("the 3rd of this month", "the 3rd of this month = 2026-09-03"),
    ("by the end of the month", "the end of the month = 2026-09-25..2026-09-30"),
    ("the first week of May", "the first week of May = 2027-05-01..2027-05-07"),
    ("I went there in May", "May = 2026-05-01..2026-05-31"),
    ("I'll go in May", "May = 2027-05-01..2027-05-31"),
    ("last May", "last May = 2026-05-01..2026-05-31"),
    ("next June", "next June = 2027-06-01..2027-06-30"),
    ("I was born in May 1988.", "May 1988 = 1988-05-01..1988-05-31"),
    # Dates.
    ("on the 5th", "the 5th = 2026-10-05"),
    ("October 3", "October 3 = 2026-10-03"),
    ("Oct. 3rd, 2026", "Oct. 3rd, 2026 = 2026-10-03"),
    ("3 October 2026", "3 October 2026 = 2026-10-03"),
    ("the fifth of October", "the fifth of October = 2026-10-05"),
    ("on Saturday, October 3", "Saturday, October 3 = 2026-10-03"),
    ("Saturday the 3rd", "Saturday the 3rd = 2026-10-03"),
    ("on 10/3", "10/3 = 2026-10-03"),
    ("10/3/2026", "10/3/2026 = 2026-10-03"),
    ("25/12/2026", "25/12/2026 = 2026-12-25"),
    ("2026-10-03", "2026-10-03 = 2026-10-03"),
    ("2026-10-03T15:00:00+09:00", "2026-10-03T15:00:00 = 2026-10-03T15:00"),
    ("October 3–5, 2026", "October 3–5, 2026 = 2026-10-03..2026-10-05"),
    ("December 28 – January 3, 2027", "December 28 – January 3, 2027 = 2026-12-28..2027-01-03"),
    ("back in 2010", "2010 = 2010-01-01..2010-12-31"),
    ("the year before last", "the year before last = 2024-01-01..2024-12-31"),
    # Holidays and seasons.
    ("Christmas", "Christmas = 2026-12-25"),
    ("over Christmas 2025 we skied", "Christmas 2025 = 2025-12-25"),
    ("last Christmas", "last Christmas = 2025-12-25"),
    ("on New Year's Eve", "New Year's Eve = 2026-12-31"),
    ("Halloween is near", "Halloween = 2026-10-31"),
    ("we'll meet on Thanksgiving", "Thanksgiving = 2026-11-26"),
    ("Easter 2027", "Easter 2027 = 2027-03-28"),
    ("last summer", "last summer = 2026-06-01..2026-08-31"),
    ("next spring", "next spring = 2027-03-01..2027-05-31"),
    ("the summer of 2025", "summer of 2025 = 2025-06-01..2025-08-31"),
    # Parts of the day, clock times, and all of it together.
    ("this morning", "this morning = 2026-09-27T05:00..2026-09-27T12:00"),
    ("last night I slept badly", "last night = 2026-09-26T18:00..2026-09-27T00:00"),
    ("tonight at 8", "tonight at 8 = 2026-09-27T20:00"),
    ("tonight at eight", "tonight at eight = 2026-09-27T20:00"),
    ("I woke up last night at 2", "last night at 2 = 2026-09-27T02:00"),
    ("tomorrow at 8 p.m.", "tomorrow at 8 p.m. = 2026-09-28T20:00"),
    ("at 8 p.m. tomorrow.", "8 p.m. tomorrow = 2026-09-28T20:00"),
    ("tomorrow morning", "tomorrow morning = 2026-09-28T05:00..2026-09-28T12:00"),
    ("at 3:30 on Tuesday", "3:30 on Tuesday = 2026-09-29T15:30"),
    ("Wednesday, October 7th, at 10 a.m.", "Wednesday, October 7th, at 10 a.m. = 2026-10-07T10:00"),
    ("Saturday at noon", "Saturday at noon = 2026-10-03T12:00"),
    ("tomorrow at midnight", "tomorrow at midnight = 2026-09-29T00:00"),
    ("half past eight tomorrow", "half past eight tomorrow = 2026-09-28T08:30"),
    ("a quarter to nine tonight", "a quarter to nine tonight = 2026-09-27T20:45"),
    ("at 3 in the afternoon", "3 in the afternoon = 2026-09-27T15:00"),
    ("tomorrow from 3 to 5 p.m.", "tomorrow from 3 to 5 p.m. = 2026-09-28T15:00..2026-09-28T17:00"),
    # A while.
    ("Lately I've been practicing guitar", "Lately = 2026-09-13T14:00..2026-09-27T14:00"),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_an_expression_is_placed_on_the_calendar(text: str, expected: str) -> None:
    assert read(text, "en") == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "May I ask you something?",
        "You may go. It may be late. March on!",
        "Aunt May said hi. April came over with June.",
        "Mark may sit by the sun",
        "the sat phone",
        "I sat in the sun",
        "the sun sat on the mon",
        "wait a second",
        "I'd like a second opinion. First, second, third.",
        "on the 5th floor",
        "I'll be back in a minute",
        "good morning",
        "every Tuesday I do yoga",
        "I play tennis on Tuesdays at 8 p.m.",
        "on weekends",
        "each morning at 7",
        "twice a week",
        "I finished it in two days",
        "he is 8 years old",
        "24/7 support, 1/2 cup",
        "version 1.2.3, call 555-1234",
        "the Christmas tree is up",
        "the end of the world",
        "next time, next door",
        "two days after the exam",
        "hot in the summer",
        "back in the day",
        "when I was a child",
        "October 32",
        "2026-13-45",
        "in 9999 years",
        "",
    ],
)
def test_what_only_looks_like_a_time_gives_none(text: str) -> None:
    assert read(text, "en") == []


def test_two_times_in_one_sentence_are_told_apart() -> None:
    assert read("I booked it today for Saturday", "en") == [
        "today = 2026-09-27",
        "Saturday = 2026-10-03",
    ]
    assert read("I woke up early tomorrow at 8", "en") == ["tomorrow at 8 = 2026-09-28T08:00"]
    assert read("later at 8 tonight", "en") == ["8 tonight = 2026-09-27T20:00"]
    assert read("We fly on Dec 24 and return on Jan 2.", "en") == [
        "Dec 24 = 2026-12-24",
        "Jan 2 = 2027-01-02",
    ]
