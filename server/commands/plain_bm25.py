"""BM25 over single turns as other programs have it, to compare with: no window, no days, no speakers, no vectors."""

from collections import Counter, defaultdict
from collections.abc import Set
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from server.commands.dialogue_memory import Found
from server.commands.dialogues import Dialogue, DialogueQuestion
from server.memory.lines import SILENT
from server.memory.page_recall import PageFindings
from server.memory.terms import analyse
from server.query import normalize

K1, B = 1.5, 0.75
"""As `bm25s` and other programs set them."""
_MOST = 40


class PlainBm25:
    """Finds the turns of a dialogue by the words that memory knows them by."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for place, turn in enumerate(dialogue.utterances):
            words = self._words(turn.text)
            lengths.append(len(words))
            for word, count in Counter(words).items():
                self._postings[word].append((place, count))
        lasting = np.array(lengths, np.float64)
        self._burdens = K1 * (1 - B + B * lasting / max(1.0, float(lasting.mean())))

    def ask(self, question: DialogueQuestion) -> Found:
        """Return the turns that share a word with a question, best first; names of the two that talk are none."""
        started = perf_counter()
        turns, scores = self._dialogue.utterances, self.scores_of(question.text)
        order = np.argsort(-scores, kind="stable")
        hits = (turns[place] for place in order.tolist() if scores[place] > 0)
        known = dict.fromkeys(turn.id for turn in hits if turn.at <= question.asked_at)
        return Found(tuple(known)[:_MOST], PageFindings(), perf_counter() - started)

    def scores_of(self, text: str) -> NDArray[np.float64]:
        """Return how well each turn matches, in their order."""
        count = len(self._burdens)
        scores = np.zeros(count)
        for word in set(self._words(text, self._dialogue.speakers.forms)):
            if found := self._postings.get(word):
                places, often = np.array(found).T
                rarity = np.log1p((count - len(found) + 0.5) / (len(found) + 0.5))
                scores[places] += rarity * often * (K1 + 1) / (often + self._burdens[places])
        return scores

    def _words(self, text: str, names: Set[str] = frozenset()) -> list[str]:
        found = analyse(normalize(text), self._dialogue.language)
        return [
            term.key
            for term in found.terms
            if term.weight >= SILENT
            and names.isdisjoint((term.key.casefold(), term.sound.casefold()))
        ]
