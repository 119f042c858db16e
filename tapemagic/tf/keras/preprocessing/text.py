"""Words to numbers: ``tf.keras.preprocessing.text``, in plain Python."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.tf.core.missing import missing

FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(
    input_text: str, filters: str = FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """Split a text into words, without the characters in `filters`.

    Examples
    --------
    >>> text_to_word_sequence("The cat, the mat.")
    ['the', 'cat', 'the', 'mat']
    """
    text = input_text.lower() if lower else input_text
    for character in filters:
        text = text.replace(character, split)
    return [word for word in text.split(split) if word]


def hashing_trick(
    text: str,
    n: int,
    hash_function: Any = None,
    filters: str = FILTERS,
    lower: bool = True,
    split: str = " ",
    analyzer: Callable[[str], Any] | None = None,
) -> list[int]:
    """Return a number from 1 to n - 1 for each word, by a hash function; different words may have the same.

    Parameters
    ----------
    hash_function : callable or 'md5', optional
        By default Python's `hash`, which differs from one session of Python to the next.

    Examples
    --------
    >>> hashing_trick("a b a", 50, hash_function="md5")
    [15, 33, 15]
    """
    if hash_function == "md5":
        hash_function = _md5
    function = hash if hash_function is None else hash_function
    words = analyzer(text) if analyzer else text_to_word_sequence(text, filters, lower, split)
    return [function(word) % (n - 1) + 1 for word in words]


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


def one_hot(
    input_text: str,
    n: int,
    filters: str = FILTERS,
    lower: bool = True,
    split: str = " ",
    analyzer: Callable[[str], Any] | None = None,
) -> list[int]:
    """Return a number from 1 to n - 1 for each word, by Python's `hash`; see `hashing_trick`."""
    return hashing_trick(input_text, n, None, filters, lower, split, analyzer)


class Tokenizer:
    """Numbers for words, from 1 for the most frequent word of the texts that it has read.

    Parameters
    ----------
    num_words : int, optional
        Numbers from `num_words` on are left out, or replaced by that of `oov_token`.
    filters : str, optional
        The characters that separate words, besides `split`.
    lower : bool, optional
    split : str, optional
    char_level : bool, optional
        Number characters instead of words.
    oov_token : str, optional
        The word that replaces unknown ones; its number is 1.
    analyzer : callable, optional
        Splits a text into words.

    Examples
    --------
    >>> tokenizer = Tokenizer()
    >>> tokenizer.fit_on_texts(["the cat", "the mat"])
    >>> tokenizer.word_index
    {'the': 1, 'cat': 2, 'mat': 3}
    >>> tokenizer.texts_to_sequences(["the mat!", "a cat"])
    [[1, 3], [2]]
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        analyzer: Callable[[str], Any] | None = None,
        document_count: int = 0,
    ) -> None:
        self.num_words = num_words
        self.filters = filters
        self.lower = lower
        self.split = split
        self.char_level = char_level
        self.oov_token = oov_token
        self.analyzer = analyzer
        self.document_count = document_count
        self.word_counts: dict[str, int] = {}
        self.word_docs: dict[str, int] = Counter()
        self.index_docs: dict[int, int] = Counter()
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> Any:
        """Return the words, or the characters, of a text or of a list of words."""
        if isinstance(text, list):
            return [word.lower() for word in text] if self.lower else text
        if self.char_level:
            return text.lower() if self.lower else text
        if self.analyzer is not None:
            return self.analyzer(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Count the words of texts, and number them by frequency, equally frequent ones as they first occur."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        # `sorted` is stable.
        words = sorted(self.word_counts, key=self.word_counts.__getitem__, reverse=True)
        if self.oov_token is not None:
            words = [self.oov_token, *words]
        self.word_index = {word: number for number, word in enumerate(words, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Any) -> None:
        """Count in how many sequences of numbers each number occurs, for the mode "tfidf" of matrices."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for number in set(sequence):
                self.index_docs[number] += 1

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """Return the numbers of the words of each text; unknown words are left out, or replaced by `oov_token`."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """Yield what `texts_to_sequences` returns."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for text in texts:
            numbers = (self.word_index.get(word) for word in self._words(text))
            kept = (unknown if self._is_rare(number) else number for number in numbers)
            yield [number for number in kept if number is not None]

    def _is_rare(self, number: int | None) -> bool:
        return number is None or bool(self.num_words and number >= self.num_words)

    def sequences_to_texts(self, sequences: Iterable[Any]) -> list[str]:
        """Return the words of each sequence of numbers, joined by spaces."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Any]) -> Iterator[str]:
        """Yield what `sequences_to_texts` returns."""
        for sequence in sequences:
            words = (
                self.oov_token
                if number not in self.index_word or self._is_rare(number)
                else self.index_word[number]
                for number in sequence
            )
            yield " ".join(word for word in words if word is not None)

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> Any:
        """Return a row for each text, with a column for each word; see `sequences_to_matrix`."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> Any:
        """Return a row for each sequence, with a column for each number.

        Parameters
        ----------
        sequences : sequence of sequences of int
        mode : {'binary', 'count', 'freq', 'tfidf'}, optional

        Raises
        ------
        OptionError
            For another mode, or before `fit_on_texts`.
        """
        if mode not in {"binary", "count", "freq", "tfidf"}:
            raise OptionError(f"mode must be 'binary', 'count', 'freq' or 'tfidf', not {mode!r}")
        width = self.num_words or (len(self.word_index) + 1 if self.word_index else 0)
        if not width or (mode == "tfidf" and not self.document_count):
            raise OptionError("the tokenizer knows no words yet: call fit_on_texts(texts) first")
        matrix = np.zeros((len(sequences), width))
        for row, sequence in zip(matrix, sequences, strict=True):
            for number, count in Counter(n for n in sequence if n < width).items():
                if mode == "tfidf":
                    documents = 1 + self.index_docs.get(number, 0)
                    row[number] = (1 + np.log(count)) * np.log(1 + self.document_count / documents)
                else:
                    row[number] = {"binary": 1, "count": count, "freq": count / len(sequence)}[mode]
        return matrix

    def get_config(self) -> dict[str, Any]:
        """Return the options and the counts, in the form in which Keras stores them."""
        options = ("num_words", "filters", "lower", "split", "char_level", "oov_token")
        counts = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        return {
            **{name: getattr(self, name) for name in options},
            "document_count": self.document_count,
            **{name: json.dumps(getattr(self, name)) for name in counts},
        }

    def to_json(self, **kwargs: Any) -> str:
        """Return the tokenizer as JSON, which `tokenizer_from_json` reads, here and in Keras."""
        return json.dumps({"class_name": "Tokenizer", "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Create a tokenizer from what `Tokenizer.to_json` returned."""
    config = dict(json.loads(json_string)["config"])
    counts = {name: json.loads(config.pop(name)) for name in ("word_counts", "word_index")}
    documents = json.loads(config.pop("word_docs"))
    by_number = {name: json.loads(config.pop(name)) for name in ("index_docs", "index_word")}
    tokenizer = Tokenizer(**config)
    tokenizer.word_counts, tokenizer.word_index = counts["word_counts"], counts["word_index"]
    tokenizer.word_docs = Counter(documents)
    # JSON has only strings as keys.
    tokenizer.index_docs = Counter({int(n): count for n, count in by_number["index_docs"].items()})
    tokenizer.index_word = {int(n): word for n, word in by_number["index_word"].items()}
    return tokenizer


__all__ = ["Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json"]
__getattr__ = missing(__name__, __all__)
