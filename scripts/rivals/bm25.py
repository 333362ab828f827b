"""Driver of bm25s: one document for each turn, which begins with the name of its speaker."""

from importlib import import_module
from pathlib import Path
from typing import Any

from scripts.rivals.protocol import Exchange, Settings, first, serve


class Bm25:
    """Plain BM25 over turns, with the weights that Lucene uses."""

    def __init__(self, settings: Settings) -> None:
        self._bm25s: Any = import_module("bm25s")
        self._folder = Path(settings.folder)
        self._ids: list[str] = []
        self._texts: list[str] = []
        self._index: Any = None
        english = settings.language == "en"
        self._stemmer: Any = import_module("Stemmer").Stemmer("english") if english else None
        self._stopwords = "en_plus" if english else None  # the longer list, with question words
        # The package splits at blanks. Japanese and Chinese have none, so every letter is a word there.
        self._pattern = r"(?u)\b\w\w+\b" if english else r"(?u)[a-zA-Z0-9]+|\w"

    def add(self, exchange: Exchange) -> None:
        """Note the turns."""
        for turn in exchange.turns:
            self._ids.append(turn.id)
            self._texts.append(turn.text)

    def settle(self) -> None:
        """Make the index."""
        self._index = self._bm25s.BM25(k1=1.2, b=0.75)
        self._index.index(self._words(self._texts), show_progress=False)
        self._index.save(str(self._folder / "index"), corpus=self._texts, show_progress=False)

    def ask(self, question: str, limit: int) -> list[str]:
        """Return the turns with the highest scores."""
        count = min(limit, len(self._ids))
        places, scores = self._index.retrieve(self._words([question]), k=count, show_progress=False)
        pairs = zip(places[0], scores[0], strict=True)
        return first((self._ids[place] for place, score in pairs if score > 0), limit)

    def _words(self, texts: list[str]) -> Any:
        return self._bm25s.tokenize(
            texts,
            token_pattern=self._pattern,
            stopwords=self._stopwords,
            stemmer=self._stemmer,
            show_progress=False,
        )


if __name__ == "__main__":
    serve("bm25s", Bm25)
