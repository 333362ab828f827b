"""Checks that a sentence about a person rests on what the person said, and on nothing else.

A quote is judged by the whole sentences that it stands in: "I had a dog" out of "if I had a dog" is no statement. The
fact is compared with those sentences, never with the quote alone.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from difflib import SequenceMatcher

from server.memory import lexicon, temporal
from server.memory.claims import (
    SOMEBODY,
    Claim,
    Refusal,
    claims_of,
    claims_of_fact,
    counterparts,
    disagreement,
    without_form,
)
from server.memory.contrasts import are_contrary
from server.memory.counts import counted, numbers_in
from server.memory.grave import means_less_in_part
from server.memory.habits import weekdays
from server.memory.orders import bids_for_good, is_of_manner
from server.memory.statements import clauses_of, sentences, telling_places
from server.memory.temporal import Granularity, TimeSpan
from server.memory.terms import TELLING, Analysis, Term, TermKind, analyse, letters, verb_stem
from server.memory.unmentioned import is_about_mentioning, put_otherwise
from server.memory.wording import plain_analysis, without

_QUOTE_SHARE = 0.85
"""Share of a quote's letters that must stand in the turn, in order: models mend spelling while they copy."""
_TERM_SHARE = 0.6
"""Share of the weight of a sentence's terms that must come from the turn; the rest is grammar and rewording."""
_SOME_WORDS = 2
"""Words of a clause of which at least one must have been said."""
_MEANINGFUL = 0.6
"""Weight of a term that is no frame word."""
_FEWEST_LETTERS = 3
"""Letters of a sentence that a quote has to share with it."""
_SAME_ATTITUDE = frozenset(
    {"allergy", "dislike", "favourite", "name", "birthday", "age", "death", "plan", "habit"}
)
"""Notions whose words say the same; those of others are different things: a cat is no dog."""
_NO_COUNT = frozenset({"1"})
"""一 stands in many words that count nothing."""
_MAKES_KIN = frozenset({"baby", "marriage"})
"""Notions that tell of a child or a partner without naming them."""


def refusal(
    text: str, quote: str, said: str, language: str, said_at: datetime, week_start: int = 0
) -> Refusal | None:
    """Return why a turn does not support a drawn fact; None if it does.

    The quote stands in a statement of the turn, every name and number was spoken, and most of the words were. Times,
    people, negation, tense and wishes are those of the statement.

    Args:
        text: The sentence to be kept.
        quote: The words that it is said to come from.
        said: All that the person said in that turn.
        language: Of the turn.
        said_at: When it was said, aware.
        week_start: First day of the week, 0 for Monday.
    """
    turn = clauses_of(said, language)
    quoted = _places_of(quote, turn)
    if not quoted:
        return Refusal.QUOTE
    telling, own = telling_places(turn, language)
    if any(bids_for_good(turn[place]) and not is_of_manner(turn[place]) for place in quoted):
        return Refusal.STATEMENT
    basis = [turn[place] for place in quoted if place in telling]
    if set(quoted).isdisjoint(own):
        return Refusal.STATEMENT
    others = [turn[place] for place in telling if place not in quoted]
    return _Comparison(text, basis, others, language, said_at, week_start).refusal()


def is_spoken(text: str, quote: str, said: str, language: str) -> bool:
    """Say whether a turn has the words of a text: its quote, every name and number, and most of the words.

    That is less than `refusal` asks for: whom and what the words tell of is for the caller to judge.
    """
    if not _places_of(quote, sentences(said)):
        return False
    known = _Known([said], language)
    whole = analyse(text, language).terms
    certain = (TermKind.NAME, TermKind.NUMBER)
    if any(term.kind in certain and not known.has(term) for term in whole):
        return False
    plain = plain_analysis(text, language).terms
    return all(_share_of(terms, known) >= _TERM_SHARE for terms in (whole, plain))


def shares_words(text: str, told: Sequence[str], language: str) -> bool:
    """Say whether a text has a word of weight, or what one stands for, in common with what was told; or has none at all."""
    meaning = plain_analysis(text, language)
    terms = [term for term in meaning.terms if term.weight >= TELLING]
    known = _Known(told, language)
    if not terms or any(known.has(term) for term in terms):
        return True
    there = [analyse(each, language) for each in told]
    if any(meaning.notions & one.notions or meaning.persons & one.persons for one in there):
        return True
    whole = letters(text)  # 猫 is in 飼い猫
    keys = {letters(term.key) for one in there for term in one.terms if term.weight >= TELLING}
    return any(key in whole for key in keys if key and not key.isascii())


class _Comparison:
    """A fact beside the sentences that it rests on, and those around them that it may need."""

    def __init__(
        self,
        text: str,
        basis: Sequence[str],
        others: Sequence[str],
        language: str,
        said_at: datetime,
        week_start: int,
    ) -> None:
        self._text = text
        self._basis = basis
        self._others = others
        self._language = language
        self._said_at = said_at
        self._week_start = week_start
        self._plain = self._without_times(text)
        self._terms = self._terms_of(self._plain)
        self._used = [*basis, *self._helpful()]
        known = [put_otherwise(language)] if any(map(is_about_mentioning, basis)) else []
        self._known = _Known([*self._used, *known], language)

    def refusal(self) -> Refusal | None:
        return (
            self._words_refused()
            or self._numbers_refused()
            or self._times_refused()
            or self._claims_refused()
        )

    def _helpful(self) -> list[str]:
        """Return the sentences around those that are quoted that name what the quoted ones don't: "his name is Rex"."""
        known = _Known(self._basis, self._language)
        missing = [
            term for term in self._terms if term.weight >= _MEANINGFUL and not known.has(term)
        ]
        if not missing:
            return []
        around = [(one, _Known([one], self._language)) for one in self._others]
        return [one for one, there in around if any(there.has(term) for term in missing)]

    def _words_refused(self) -> Refusal | None:
        missing = [term for term in self._terms if not self._known.has(term)]
        if any(term.kind is TermKind.NAME for term in missing):
            return Refusal.NAMES
        if any(self._share(part) < _TERM_SHARE for part in (self._plain, *sentences(self._plain))):
            return Refusal.WORDS
        if any(self._is_made_up(claim.words) for claim in claims_of(self._plain, self._language)):
            return Refusal.WORDS
        own = _Known(self._basis, self._language)
        rests = any(
            own.has(term)
            for term in self._terms
            if term.weight >= _MEANINGFUL or term.kind is TermKind.WORD
        )
        return None if rests or not self._terms else Refusal.WORDS

    def _is_made_up(self, clause: str) -> bool:
        """Say whether a clause says much, and nothing that was said."""
        words = [term for term in self._terms_of(clause) if term.weight >= _MEANINGFUL]
        return len(words) >= _SOME_WORDS and not any(self._known.has(term) for term in words)

    def _share(self, text: str) -> float:
        """Return the share of the weight of a text's words that was said; 1 if it has no words of weight."""
        if _is_chinese(text, self._language):
            return self._known.share_of_characters(without_form(text, self._language))
        return _share_of(self._terms_of(without_form(text, self._language)), self._known)

    def _numbers_refused(self) -> Refusal | None:
        numbers = numbers_in(self._plain, self._language)
        if self._names_numbers() and not numbers <= self._known.numbers | _NO_COUNT:
            return Refusal.NUMBERS
        told: dict[str, set[str]] = {}
        for sentence in self._used:
            for noun, numbers in counted(self._without_times(sentence), self._language).items():
                told.setdefault(noun, set()).update(numbers)
        drawn = counted(self._plain, self._language)
        differs = any(noun in told and not numbers <= told[noun] for noun, numbers in drawn.items())
        return Refusal.NUMBERS if differs else None

    def _names_numbers(self) -> bool:
        """Say whether some number was not said as it is written; in Chinese none is a term of its own."""
        missing = (term for term in self._terms if not self._known.has(term))
        is_number = any(term.kind is TermKind.NUMBER for term in missing)
        return is_number or _is_chinese(self._plain, self._language)

    def _times_refused(self) -> Refusal | None:
        drawn = self._times(self._text)
        if drawn and not self._were_told(drawn):
            return Refusal.TIMES
        told = " ".join(self._used)
        if not weekdays(self._plain) <= weekdays(told):
            return Refusal.TIMES
        return Refusal.CONTRARY if are_contrary(told, self._text) else None

    def _were_told(self, drawn: Sequence[TimeSpan]) -> bool:
        """Say whether times stand in the sentences that a fact rests on, or in those around them if these have none."""
        there = [span for sentence in self._used for span in self._times(sentence)]
        if not there:
            there = [span for sentence in self._others for span in self._times(sentence)]
        if not there:  # "today" is no news
            drawn = [span for span in drawn if not span.since <= self._said_at < span.until]
        return all(self._was_told(span, there, self._used) for span in drawn)

    def _claims_refused(self) -> Refusal | None:
        if self._invents_kin():
            return Refusal.PEOPLE
        told = [claim for sentence in self._used for claim in claims_of(sentence, self._language)]
        drawn = claims_of_fact(self._text, self._language)
        whole = analyse(self._text, self._language)
        mentioned = _people_in(whole, drawn)
        for claim in drawn:
            near = counterparts(claim, told, self._language)
            refused = disagreement(claim, near, mentioned, self._language)
            if refused is not None:
                return refused
            refused = self._details_differ(claim.words, [one.words for one in near])
            if refused is not None:
                return refused
            if near and all(self._is_cut_short(claim.words, one.words) for one in near):
                return Refusal.WORDS
        return None

    def _is_cut_short(self, drawn: str, told: str) -> bool:
        """Say whether a clause leaves of something grave all the rest out: "want to kill" of "want to kill this bug"."""
        if not means_less_in_part(drawn, self._language):
            return False
        there, here = self._matter(told), self._matter(drawn)
        return len(here) < _SOME_WORDS <= len(there)

    def _matter(self, clause: str) -> set[str]:
        terms = self._terms_of(self._without_times(clause))
        return {term.key for term in terms if term.weight >= _MEANINGFUL}

    def _details_differ(self, drawn: str, told: Sequence[str]) -> Refusal | None:
        """Compare the times and numbers of a clause with those of the clauses that speak of the same, if these have any."""
        times = self._times(drawn)
        there = [span for clause in told for span in self._times(clause)] if times else []
        if there and not all(self._was_told(span, there, told) for span in times):
            return Refusal.TIMES
        known = {number for clause in told for number in self._numbers(clause)}
        return Refusal.NUMBERS if known and not self._numbers(drawn) <= known else None

    def _numbers(self, text: str) -> set[str]:
        return numbers_in(self._without_times(text), self._language) - _NO_COUNT

    def _invents_kin(self) -> bool:
        """Say whether a fact names one of the family of whom nothing was said."""
        drawn = analyse(self._text, self._language)
        told = analyse(" ".join([*self._used, *self._others]), self._language)
        kin = drawn.persons & (lexicon.KIN - {"child"})  # "as a child"
        is_news = not (drawn.notions & told.notions).isdisjoint(_MAKES_KIN)
        return not is_news and kin != lexicon.may_be_among(kin, told.persons)

    def _was_told(self, span: TimeSpan, there: Sequence[TimeSpan], told: Sequence[str]) -> bool:
        return letters(span.phrase) in letters(" ".join(told)) or _is_among(span, there)

    def _terms_of(self, text: str) -> Sequence[Term]:
        return analyse(text, self._language).terms

    def _times(self, text: str) -> list[TimeSpan]:
        return temporal.find_times(text, self._language, self._said_at, week_start=self._week_start)

    def _without_times(self, text: str) -> str:
        return without(text, self._times(text))


class _Known:
    """The words of some sentences."""

    def __init__(self, told: Sequence[str], language: str) -> None:
        analyses = [analyse(sentence, language) for sentence in told]
        self._language = language
        self._forms = {form for one in analyses for form in one.forms}
        self._stems = {
            verb_stem(term.sound) for one in analyses for term in one.terms if term.sound.isascii()
        }
        self._notions = {notion for one in analyses for notion in one.notions} & _SAME_ATTITUDE
        self._letters = letters(" ".join(told))
        self.numbers = {number for one in told for number in numbers_in(one, language)}

    def has(self, term: Term) -> bool:
        key = letters(term.key)
        if (
            term.key in self._forms
            or term.sound in self._forms
            or (key != "" and key in self._letters)
        ):
            return True
        if term.kind is TermKind.NUMBER:
            return not self.numbers.isdisjoint(numbers_in(term.key, self._language))
        if term.kind is not TermKind.WORD:
            return False
        if term.sound.isascii() and verb_stem(term.sound) in self._stems:
            return True
        notions = lexicon.concepts(self._language).of(
            term.key if not term.sound.isascii() else term.sound
        )
        return not self._notions.isdisjoint(notions)

    def share_of_characters(self, text: str) -> float:
        """Return the share of the Chinese characters, grammar apart, that were said."""
        for phrase in lexicon.persons("zh").phrases:
            text = text.replace(phrase, "")
        wanted = [one for one in letters(text) if one not in lexicon.function_words("zh")]
        return sum(one in self._letters for one in wanted) / len(wanted) if wanted else 1.0


def _share_of(terms: Sequence[Term], known: _Known) -> float:
    """Return the share of the weight of terms that is known; 1 if they have none."""
    told = [term for term in terms if term.kind is not TermKind.PERSON]
    total = sum(term.weight for term in told)
    return sum(term.weight for term in told if known.has(term)) / total if total else 1.0


def _is_chinese(text: str, language: str) -> bool:
    """Say whether a text is read as Chinese."""
    return language == "zh" and re.search(r"[\u3400-\u9fff]", text) is not None


def _people_in(whole: Analysis, claims: Sequence[Claim]) -> frozenset[str]:
    """Return the people of whom a fact speaks: classes, and names by their letters; any word may be one."""
    names = {letters(term.key) for term in whole.terms if term.kind is TermKind.NAME}
    words = {letters(term.sound) for term in whole.terms} | {
        letters(term.key) for term in whole.terms
    }
    told_of = {name for claim in claims for name in claim.told_of}
    somebody = {SOMEBODY} if whole.persons or names or told_of else set()
    return frozenset(whole.persons | names | words | told_of | somebody)


def _is_among(span: TimeSpan, there: Sequence[TimeSpan]) -> bool:
    """Say whether one of the times that were told is this one, or lies in it."""
    if span.granularity is Granularity.RECENT:
        return True
    return any(
        letters(span.phrase) == letters(other.phrase)
        or (span.since <= other.since and other.until <= span.until)
        or _same_hour(span, other)
        for other in there
    )


def _same_hour(span: TimeSpan, other: TimeSpan) -> bool:
    both = span.granularity is Granularity.MOMENT and other.granularity is Granularity.MOMENT
    return both and span.since.time() == other.since.time() and not (span.certain and other.certain)


def _places_of(quote: str, turn: Sequence[str]) -> list[int]:
    """Return the places of the sentences that a quote stands in; none if it was not said."""
    wanted = letters(quote)
    if not wanted:
        return []
    whole = [letters(sentence) for sentence in turn]
    there = "".join(whole)
    start = there.find(wanted)
    if start >= 0:
        ranges = [(start, start + len(wanted))]
    else:
        blocks = SequenceMatcher(None, wanted, there, autojunk=False).get_matching_blocks()
        ranges = [(block.b, block.b + block.size) for block in blocks if block.size > 1]
        if sum(end - first for first, end in ranges) < _QUOTE_SHARE * len(wanted):
            return []
    places, begin = [], 0
    for place, sentence in enumerate(whole):
        end = begin + len(sentence)
        shared = sum(max(0, min(end, last) - max(begin, first)) for first, last in ranges)
        if shared >= min(_FEWEST_LETTERS, len(sentence)) > 0:
            places.append(place)
        begin = end
    return places
