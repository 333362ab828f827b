"""The English words for days, months, holidays, seasons and parts of the day."""

from collections.abc import Mapping
from typing import Final

from server.memory.temporal import clock_values as hours
from server.memory.temporal.calendar_rules import Season, Section
from server.memory.temporal.clock_values import Hours
from server.memory.temporal.frames import Pick
from server.memory.temporal.holidays import (
    FATHERS_DAY,
    MONDAY,
    MOTHERS_DAY,
    THANKSGIVING,
    THURSDAY,
    OfYear,
    around_easter,
    fixed,
    golden_week,
    nth,
)

WEEKDAYS: Final[Mapping[str, int]] = {
    name: number
    for number, name in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )
}

SHORT_WEEKDAYS: Final[Mapping[str, int]] = {
    "mon": 0,
    "tue": 1,
    "tues": 1,
    "wed": 2,
    "thu": 3,
    "thurs": 3,
    "fri": 4,
    "sat": 5,
    "sun": 6,
}

PLAIN_MONTHS: Final[Mapping[str, int]] = {
    "january": 1,
    "february": 2,
    "july": 7,
    "september": 9,
    "october": 10,
    "november": 11,
    "december": 12,
}

WORDLIKE_MONTHS: Final[Mapping[str, int]] = {
    "march": 3,
    "april": 4,
    "may": 5,
    "june": 6,
    "august": 8,
}
"""Months that are also verbs, adjectives or names of people."""

SHORT_MONTHS: Final[Mapping[str, int]] = {
    "jan": 1,
    "feb": 2,
    "mar": 3,
    "apr": 4,
    "jun": 6,
    "jul": 7,
    "aug": 8,
    "sep": 9,
    "sept": 9,
    "oct": 10,
    "nov": 11,
    "dec": 12,
}

MONTHS: Final[Mapping[str, int]] = {**PLAIN_MONTHS, **WORDLIKE_MONTHS, **SHORT_MONTHS}

DAY_WORDS: Final[Mapping[str, int]] = {
    "today": 0,
    "earlier today": 0,
    "later today": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "yesterday": -1,
    "the day before yesterday": -2,
    "day before yesterday": -2,
}

NAMED_DAYPARTS: Final[Mapping[str, tuple[int, Hours]]] = {
    "tonight": (0, hours.NIGHT),
    "this morning": (0, hours.MORNING),
    "this afternoon": (0, hours.AFTERNOON),
    "this evening": (0, hours.EVENING),
    "last night": (-1, hours.NIGHT),
    "last evening": (-1, hours.EVENING),
    "the night before last": (-2, hours.NIGHT),
}

DAYPARTS: Final[Mapping[str, Hours]] = {
    "dawn": hours.Hours(4, 7, 3, 8),
    "early morning": hours.EARLY_MORNING,
    "morning": hours.MORNING,
    "lunchtime": hours.MIDDAY,
    "afternoon": hours.AFTERNOON,
    "evening": hours.EVENING,
    "night": hours.NIGHT,
    "late night": hours.LATE_NIGHT,
}

PICKS: Final[Mapping[str, Pick]] = {
    "next": Pick.NEXT,
    "this": Pick.THIS,
    "this coming": Pick.NEXT,
    "the coming": Pick.NEXT,
    "coming": Pick.NEXT,
    "last": Pick.LAST,
    "past": Pick.LAST,
    "this past": Pick.LAST,
    "the past": Pick.LAST,
    "previous": Pick.LAST,
    "the previous": Pick.LAST,
}

AFTERWARDS: Final[Mapping[str, Pick]] = {
    "after next": Pick.AFTER_NEXT,
    "before last": Pick.BEFORE_LAST,
}

SHIFTS: Final[Mapping[str, int]] = {
    "next": 1,
    "the following": 1,
    "this coming": 1,
    "the coming": 1,
    "coming": 1,
    "this": 0,
    "the current": 0,
    "last": -1,
    "this past": -1,
    "the previous": -1,
    "previous": -1,
}
"""Of weeks, months and years."""

SECTIONS: Final[Mapping[str, Section]] = {
    "early": Section.EARLY,
    "the beginning of": Section.START,
    "beginning of": Section.START,
    "the start of": Section.START,
    "mid": Section.MIDDLE,
    "mid-": Section.MIDDLE,
    "the middle of": Section.MIDDLE,
    "middle of": Section.MIDDLE,
    "late": Section.LATE,
    "later": Section.LATE,
    "the end of": Section.END,
    "end of": Section.END,
    "the first half of": Section.FIRST_HALF,
    "the first week of": Section.FIRST_WEEK,
    "the second week of": Section.SECOND_WEEK,
    "the third week of": Section.THIRD_WEEK,
    "the fourth week of": Section.FOURTH_WEEK,
    "the last week of": Section.END,
    "the second half of": Section.SECOND_HALF,
}

SEASONS: Final[Mapping[str, Season]] = {
    "spring": Season.SPRING,
    "summer": Season.SUMMER,
    "fall": Season.AUTUMN,
    "autumn": Season.AUTUMN,
    "winter": Season.WINTER,
}

HOLIDAYS: Final[Mapping[str, OfYear]] = {
    "new year's day": fixed(1, 1),
    "new years day": fixed(1, 1),
    "new year's eve": fixed(12, 31),
    "new years eve": fixed(12, 31),
    "new year's": fixed(1, 1),
    "new years": fixed(1, 1),
    "martin luther king day": nth(1, MONDAY, 3),
    "mlk day": nth(1, MONDAY, 3),
    "groundhog day": fixed(2, 2),
    "valentine's day": fixed(2, 14),
    "valentines day": fixed(2, 14),
    "valentine's": fixed(2, 14),
    "presidents' day": nth(2, MONDAY, 3),
    "presidents day": nth(2, MONDAY, 3),
    "st. patrick's day": fixed(3, 17),
    "st patrick's day": fixed(3, 17),
    "saint patrick's day": fixed(3, 17),
    "april fools' day": fixed(4, 1),
    "april fool's day": fixed(4, 1),
    "april fools": fixed(4, 1),
    "good friday": around_easter(-2),
    "easter": around_easter(0),
    "easter sunday": around_easter(0),
    "easter monday": around_easter(1),
    "golden week": golden_week,
    "mother's day": MOTHERS_DAY,
    "mothers day": MOTHERS_DAY,
    "memorial day": nth(5, MONDAY, -1),
    "father's day": FATHERS_DAY,
    "fathers day": FATHERS_DAY,
    "juneteenth": fixed(6, 19),
    "independence day": fixed(7, 4),
    "the fourth of july": fixed(7, 4),
    "obon": fixed(8, 13, 4),
    "labor day": nth(9, MONDAY, 1),
    "columbus day": nth(10, MONDAY, 2),
    "halloween": fixed(10, 31),
    "guy fawkes night": fixed(11, 5),
    "bonfire night": fixed(11, 5),
    "veterans day": fixed(11, 11),
    "thanksgiving day": THANKSGIVING,
    "thanksgiving": THANKSGIVING,
    "black friday": nth(11, THURSDAY, 4, later=1),
    "christmas eve": fixed(12, 24),
    "christmas day": fixed(12, 25),
    "christmas": fixed(12, 25),
    "boxing day": fixed(12, 26),
}
