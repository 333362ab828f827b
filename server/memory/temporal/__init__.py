"""Time expressions in what people say: Japanese, English and Chinese phrases to stretches of the calendar.

`find_times` reads them, `tense_around` says which way the words around one look, `annotate` writes the date beside them, `overlap` and `is_past` compare what was found.
"""

from server.memory.temporal.annotating import annotate
from server.memory.temporal.finding import find_times, tense_around
from server.memory.temporal.spans import Granularity, Tense, TimeSpan, is_past, overlap

__all__ = [
    "Granularity",
    "Tense",
    "TimeSpan",
    "annotate",
    "find_times",
    "is_past",
    "overlap",
    "tense_around",
]
