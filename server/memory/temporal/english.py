"""The rules for English."""

import re
from typing import Final

from server.memory.temporal import english_meanings as mean
from server.memory.temporal import english_words as words
from server.memory.temporal.clock_values import Clock, Daypart
from server.memory.temporal.date_values import (
    Part,
    Recent,
    Recurring,
    Year,
)
from server.memory.temporal.day_values import (
    DayShift,
)
from server.memory.temporal.number_words import (
    ENGLISH_NUMBERS,
    ENGLISH_ORDINALS,
    FOLDED,
    alternatives,
)
from server.memory.temporal.numeric import CLOCK, ISO_DATE, NOT_A_DATE
from server.memory.temporal.replacing import english_replaced
from server.memory.temporal.scanning import Language, guard, rule
from server.memory.temporal.tenses import english_tense

_NUMBER: Final = rf"(?:[0-9]{{1,4}}|{alternatives(ENGLISH_NUMBERS)})"
_ORDINAL: Final = rf"(?:[0-3]?[0-9](?:st|n[d]|rd|th)|{alternatives(ENGLISH_ORDINALS)})"
_DAY: Final = rf"(?:{_ORDINAL}|[0-3]?[0-9](?![0-9]))"
_WEEKDAY: Final = alternatives(words.WEEKDAYS)
_SHORT_WEEKDAY: Final = rf"(?-i:{alternatives({name.title(): 0 for name in words.SHORT_WEEKDAYS})})"
_PICK: Final = rf"(?:(?P<pick>{alternatives(words.PICKS)}) )?"
_SHIFT: Final = rf"(?P<shift>{alternatives(words.SHIFTS)})"
_CAPITAL_MONTH: Final = rf"(?-i:{alternatives({name.title(): 0 for name in words.MONTHS})})"
_PLAIN: Final = alternatives({**words.PLAIN_MONTHS, "april": 4, "june": 6, "august": 8})
_MONTH: Final = rf"(?:{_CAPITAL_MONTH}|{_PLAIN})\.?"
_WORDLIKE: Final = alternatives(words.WORDLIKE_MONTHS)
_CAPITAL_WORDLIKE: Final = (
    rf"(?-i:{alternatives({name.title(): 0 for name in words.WORDLIKE_MONTHS})})"
)
_YEAR: Final = r"(?P<year>(?:18|19|20)[0-9]{2})(?![0-9])"
_OF_YEAR: Final = rf"(?:,? {_YEAR})?"
_UNIT: Final = rf"(?P<unit>{alternatives(mean.UNITS)})s?"


_HABIT: Final = (
    rf"minute|hour|day|night|morning|afternoon|evening|week|weekend|weekday|month|year|{_WEEKDAY}|"
    rf"{alternatives(words.MONTHS)}|{alternatives(words.SEASONS)}|christmas"
)
_HOUR: Final = r"(?:[0-9]{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
# What may follow a bare "the 5th", which could as well be the 5th floor.
_DAY_ENDS: Final = r"[.,;!?)]|\s*\Z| (?:and|or|at|to|with|for|we|i|there|he|she|they|is|was|it|you|my|in|from|through|because|when|but|so|then|instead|if)\b"
_NAMED_MONTH: Final = r"(?:in|since|during|through|early|mid|late|back in)[ -]"

_GUARDS: Final = (
    guard(
        r"\bgood (?:morning|afternoon|evening|night)\b|\bnight (?:shift|owl|market|bus|train|club|light)s?\b|\bmorning person\b"
    ),
    guard(
        r"\b(?:sunday (?:school|best)|friday the 13th|(?:man|girl) friday|wednesday addams|saturday night (?:live|fever)|monday blues)\b"
    ),
    guard(
        r"\bchristmas (?:trees?|cards?|cakes?|carols?|songs?|lights|music|movies?|presents?|gifts?|sweaters?|cookies|island)\b"
        r"|\beaster (?:eggs?|bunny|island)\b|\bhalloween (?:costumes?|candy)\b|\bnew year'?s resolutions?\b"
    ),
    guard(
        r"\bin a (?:minute|second|sec|moment)\b|\bonce in a \w+|\b(?:days?|time|times) of the (?:week|month|year)\b"
    ),
    # A year that no rule reads takes its month and day with it.
    guard(
        rf"\b(?:(?:the )?{_DAY}(?: of)? {_MONTH}|{_MONTH} {_DAY}),? (?!(?:18|19|20)[0-9]{{2}}(?![0-9]))[0-9]{{4,5}}(?=[.,;!?)]|\s*\Z| (?:if|and|but|or|when)\b)"
    ),
    guard(r"(?<![0-9/])(?:24/7|50/50|9/11)(?![0-9/])"),
)

_HABITS: Final = (
    rule(
        rf"\b(?:every|each)(?: other| single| second| few| {_NUMBER})? (?:{_HABIT})s?\b",
        lambda match: (Recurring(),),
    ),
    rule(
        rf"\b(?:{_WEEKDAY}|weekend|weekday|morning|afternoon|evening|night)s\b(?! ago)",
        lambda match: (Recurring(),),
    ),
    rule(
        rf"\b(?:daily|weekly|monthly|yearly|annually)\b|\b(?:once|twice|{_NUMBER} times) (?:a|per|every) (?:day|week|month|year)\b",
        lambda match: (Recurring(),),
    ),
)

_COUNTED: Final = (
    rule(
        rf"\b(?P<count>{_NUMBER}) {_UNIT} (?:ago(?: today)?|back)\b(?! (?:and|to|in)\b)", mean.ago
    ),
    rule(rf"\b(?P<count>{_NUMBER}) {_UNIT}(?P<half> and a half) ago\b", mean.ago),
    rule(rf"\b(?P<count>{_NUMBER})(?P<half> and a half) {_UNIT} ago\b", mean.ago),
    rule(rf"\bin (?P<count>{_NUMBER}) {_UNIT}(?P<half> and a half)\b", mean.ahead),
    rule(rf"\bin (?P<count>{_NUMBER})(?P<half> and a half) {_UNIT}\b", mean.ahead),
    rule(r"\bhalf an? (?P<unit>hour|year) ago\b", mean.half_ago),
    rule(r"\bin half an? (?P<unit>hour|year)\b", mean.half_ahead),
    rule(r"\b(?:a few|several|some) days (?P<ago>ago)\b|\bin (?:a few|several) days\b", mean.some),
    rule(rf"\b(?P<low>{_NUMBER}) (?:or|to) (?P<high>{_NUMBER}) days (?P<ago>ago)\b", mean.some),
    rule(rf"\bin (?P<low>{_NUMBER}) (?:or|to) (?P<high>{_NUMBER}) days\b", mean.some),
    rule(rf"\bin (?P<count>{_NUMBER}) {_UNIT}\b(?:'s?(?: time)?\b)?(?! of\b)", mean.ahead),
    rule(
        rf"\b(?P<count>{_NUMBER}) {_UNIT} from (?:now|today)\b",
        mean.later,
    ),
    rule(
        rf"\b(?P<count>{_NUMBER}|the) (?P<unit>day|week)s? (?P<way>before|after|from|prior to)\b",
        mean.offset,
    ),
    rule(rf"\b(?P<day>{_WEEKDAY}) week\b|\ba week on (?P<other>{_WEEKDAY})\b", mean.week_on),
)

_DAY_RULES: Final = (
    rule(
        rf"\b(?P<word>{alternatives(words.DAY_WORDS)})\b",
        lambda match: (DayShift(words.DAY_WORDS[match["word"].lower()]),),
    ),
    rule(rf"\b{_PICK}(?P<day>{_WEEKDAY})\b(?: (?P<after>after next|before last)\b)?", mean.weekday),
    rule(
        rf"\b(?:on|by|until|from|since|before|after) (?P<at>(?P<day>{_SHORT_WEEKDAY}))\b",
        mean.short_weekday,
    ),
    rule(rf"\b(?P<pick>next|last|this) (?P<day>{_SHORT_WEEKDAY})\b", mean.short_weekday),
    rule(rf"\b(?P<day>{_SHORT_WEEKDAY})\b\.?(?=,? {_MONTH} [0-9]|\))", mean.short_weekday),
    rule(
        rf"\b(?:the )?(?P<count>last|{_ORDINAL}) (?P<day>{_WEEKDAY})(?: of the month\b|(?= (?:of|in) (?:(?:this|next|last) month|{_CAPITAL_MONTH}|{_PLAIN})\b))",
        mean.nth_weekday,
    ),
    rule(
        rf"\b(?<!day )(?:the )?{_PICK}weekend\b(?: (?P<after>after next|before last)\b)?(?! warrior)",
        mean.weekend,
    ),
    rule(
        rf"\b{_PICK}(?P<name>{alternatives(words.HOLIDAYS)})(?![\w'])(?: (?P<after>after next|before last)\b| weekend\b)?{_OF_YEAR}",
        mean.holiday,
    ),
    rule(
        rf"\b(?P<month>{_MONTH}) (?:the )?(?P<day>{_DAY})(?![0-9%:]| ?(?:[ap]\.?m\b|o'clock|percent)){_OF_YEAR}",
        mean.dated,
    ),
    rule(rf"\b(?P<month>may|march) (?P<day>[0-3]?[0-9](?:st|n[d]|rd|th))\b{_OF_YEAR}", mean.dated),
    rule(rf"\b(?:the )?(?P<day>{_DAY}) (?P<month>{_MONTH})(?!\w){_OF_YEAR}", mean.dated),
    rule(
        rf"\b(?:the )?(?P<day>{_ORDINAL}) of (?P<month>{_MONTH}|may|march)(?!\w){_OF_YEAR}",
        mean.dated,
    ),
    rule(
        rf"\b(?:the )?(?P<day>{_ORDINAL})(?= of (?:this|next|last) month\b)",
        mean.bare_day,
    ),
    rule(
        rf"\b(?:on|by|until|till|from|since|before|after|around) (?P<at>the (?P<day>[0-3]?[0-9](?:st|n[d]|rd|th)|(?!second|first){alternatives(ENGLISH_ORDINALS)}))"
        rf"(?={_DAY_ENDS})",
        mean.bare_day,
    ),
    rule(r"(?<=day )(?P<at>(?:the )?(?P<day>[0-3]?[0-9](?:st|n[d]|rd|th)))\b", mean.bare_day),
    rule(
        rf"(?:(?<=[0-9]-)|(?<=[0-9] - )|(?<=[0-9] to ))(?P<day>[0-3]?[0-9])(?![0-9:/-])(?:,? {_YEAR})?",
        mean.range_end,
    ),
    rule(
        rf"(?:(?<=[0-9a-z] to )|(?<=[0-9a-z] and ))(?:the )?(?P<day>[0-3]?[0-9](?:st|n[d]|rd|th)?)(?![0-9:/-]|(?:[ap]\.?m))(?P<year>)(?={_DAY_ENDS})",
        mean.range_end,
    ),
    ISO_DATE,
    rule(rf"(?<![0-9/.-])(?P<month>[0-3]?[0-9])/(?P<day>[0-3]?[0-9])/{_YEAR}", mean.american),
    rule(
        r"\b(?:on|by|from|to|until|before|after|since|around|for) (?P<at>(?P<month>[01]?[0-9])/(?P<day>[0-3]?[0-9]))(?![0-9/%])(?! (?:of|cups?|inch))",
        mean.slashed,
    ),
    NOT_A_DATE,
)

_LONGER: Final = (
    rule(rf"\b{_SHIFT} (?P<unit>week|month|year)\b", mean.period),
    rule(
        r"\b(?:the )?(?P<unit>week|month|year) (?P<after>after next|before last)\b", mean.far_period
    ),
    rule(
        rf"\b(?P<part>{alternatives(words.SECTIONS)}) the (?P<unit>week|month|year)\b",
        mean.section_of_now,
    ),
    rule(
        rf"\b(?P<part>{alternatives(words.SECTIONS)})(?=[ \w])",
        lambda match: (Part(words.SECTIONS[match["part"].lower()]),),
    ),
    rule(rf"\b(?P<month>{_MONTH})(?: of)?,? {_YEAR}", mean.month),
    rule(rf"\b{_PICK}(?P<month>{alternatives(words.PLAIN_MONTHS)})\b", mean.month),
    rule(rf"\b{_NAMED_MONTH}(?P<at>(?P<month>{_WORDLIKE}))\b(?! (?:be|have|not)\b)", mean.month),
    rule(rf"\b(?P<pick>last|next) (?P<month>{_WORDLIKE})\b", mean.month),
    rule(rf"\b(?P<pick>this|this past|this coming) (?P<month>{_CAPITAL_WORDLIKE})\b", mean.month),
    rule(
        rf"\b(?:of|by|until|till|before|after|around|throughout|from) (?P<at>(?P<month>{_CAPITAL_WORDLIKE}))\b(?! (?:said|says|told|is|was|has|and i)\b)",
        mean.month,
    ),
    rule(
        r"\b(?:(?:in|of|since|until|by|early|mid|late|from) (?P<at>(?P<month>(?-i:Jan|Feb|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec))))\b",
        mean.month,
    ),
    rule(
        rf"\b(?P<pick>next|this|last|this past|this coming) (?P<season>{alternatives(words.SEASONS)})\b(?! (?:apart|asleep|down|off))",
        mean.season,
    ),
    rule(rf"\b(?P<season>{alternatives(words.SEASONS)})(?: of)? {_YEAR}", mean.season),
    rule(
        rf"\b(?:in|over|during|since|until|by) the (?P<at>(?:(?:early|late) )?(?P<season>{alternatives(words.SEASONS)}))\b",
        mean.season,
    ),
    rule(
        rf"\b(?:in|since|of|during|until|by|before|after|from|back in) (?P<at>{_YEAR})(?!\w|[.,][0-9])(?! (?:people|dollars|yen|times|steps|years))",
        lambda match: (Year(int(match["year"])),),
    ),
    rule(rf"(?<=\(){_YEAR}(?=\))", lambda match: (Year(int(match["year"])),)),
    rule(
        r"\b(?:recently|lately|these days|nowadays|the other day|of late|(?:the|these) (?:past|last) (?:few|couple of|several|two) (?:days|weeks))\b",
        lambda match: (Recent(14 * 24),),
    ),
    rule(
        r"\b(?:just now|a moment ago|moments ago|a (?:little )?while ago|a few (?:minutes|hours) ago)\b",
        lambda match: (Recent(6),),
    ),
)

_HOURS: Final = (
    rule(rf"\b(?P<word>{alternatives(words.NAMED_DAYPARTS)})\b", mean.named_daypart),
    rule(
        rf"\b(?P<word>{alternatives(words.DAYPARTS)})\b",
        lambda match: (Daypart(words.DAYPARTS[match["word"].lower()]),),
    ),
    rule(r"\b(?:noon|midday)\b", lambda match: (Clock(12, exact=True),)),
    rule(r"\bmidnight\b", lambda match: (Clock(24, exact=True),)),
    rule(
        rf"(?<![0-9:.$])\b(?P<hour>{_HOUR})(?:[:.](?P<minute>[0-5][0-9]))? ?(?P<half>[ap]\.m\.|[ap]m)(?!\w)",
        mean.clock,
    ),
    rule(rf"\b(?P<hour>{_HOUR}) o'?clock\b", mean.clock),
    rule(
        rf"\b(?:from|between) (?P<at>(?P<hour>{_HOUR})(?::(?P<minute>[0-5][0-9]))?)"
        rf"(?= ?(?:to|and|until|till|-) ?(?P<then>{_HOUR})(?::[0-5][0-9])? ?(?P<half>[ap])\.?m)",
        mean.clock_range_start,
    ),
    rule(
        rf"\b(?P<hour>{_HOUR})(?= (?:in the (?:morning|afternoon|evening)|at night)\b)", mean.clock
    ),
    rule(
        rf"\b(?:at|around) (?P<at>(?P<hour>{_HOUR}))(?![0-9:%/]|\.[0-9])"
        r"(?=[.,;!?)]|\s*\Z| \(| (?:in the|at night|on|tomorrow|today|tonight|this|next|yesterday|and|or|but|for|with|to|sharp|then)\b)",
        mean.clock,
    ),
    rule(
        rf"\b(?P<part>half|a quarter|quarter) (?P<way>past|after|to) (?P<hour>{_HOUR})\b",
        mean.spoken_clock,
    ),
    CLOCK,
)

ENGLISH: Final = Language(
    rules=(*_GUARDS, *_HABITS, *_COUNTED, *_DAY_RULES, *_LONGER, *_HOURS),
    joint=re.compile(
        r"(?:'s| is)?,? ?(?:(?:on|at|in|of|the|around|from|between|T)\b ?){0,3}", re.IGNORECASE
    ),
    ranging=re.compile(r" ?(?:-|to|through|until|till) ?(?:the |on )?", re.IGNORECASE),
    listing=re.compile(r",? ?(?:and|or|&) (?:the )?|, (?:the )?", re.IGNORECASE),
    tense_at=english_tense,
    replaced=english_replaced,
    variants=FOLDED,
)
