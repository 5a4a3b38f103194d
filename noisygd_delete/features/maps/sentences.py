"""Pretrained sentence embeddings: the mean of a text's token vectors, from two files without code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidParameter, InvalidRecords, MissingDependency
from ...records import limited_io
from .base import Floats, PublicMap, check_width

_LARGEST = 1 << 31  # bytes of a file
_LONGEST = 1 << 20  # characters of a text


@dataclass(frozen=True)
class SentenceEmbedding(PublicMap):
    """Mean of static token vectors (WordLlama, Model2Vec and similar), which must never have seen the private texts.

    `shipped()` uses the files contained in the package wordllama (MIT): 32,000 tokens, 256 features, trained on public
    pairs of English texts.

    Attributes:
        vectors: A safetensors file with one table, (tokens, width).
        tokenizer: The tokenizer's JSON file, in the format of the tokenizers library.
        sha256: Of the two files; empty takes those of the present files. Files with other digests are rejected.
    """

    vectors: str
    tokenizer: str
    sha256: tuple[str, ...] = ()

    kind: ClassVar[str] = "sentences"
    files: ClassVar[tuple[str, ...]] = ("vectors", "tokenizer")

    def __post_init__(self) -> None:
        if not self.sha256:
            object.__setattr__(
                self, "sha256", (limited_io.file_digest(self.vectors), limited_io.file_digest(self.tokenizer))
            )
        if len(self.sha256) != 2:
            raise InvalidParameter("sha256 of the map 'sentences' is two digests: of the vectors, and of the tokenizer")

    @classmethod
    def shipped(cls) -> SentenceEmbedding:
        """Return the embedding contained in the package wordllama; none of its code runs.

        Raises:
            MissingDependency: If the package is not installed.
        """
        found = find_spec("wordllama")
        if found is None or found.origin is None:
            raise MissingDependency(
                "no sentence embedding is installed: pip install 'wordllama>=0.4' 'tokenizers>=0.15'"
            )
        folder = Path(found.origin).parent
        tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        return cls(str(folder / "weights" / "l2_supercat_256.safetensors"), str(tokenizer))

    @property
    def inputs(self) -> None:
        """None: the map reads texts."""
        return None

    @property
    def width(self) -> int:
        """Features per record: the length of a token vector, which loads the two files."""
        return int(self._loaded[0].shape[1])

    def __reduce__(self) -> tuple[Any, ...]:
        return SentenceEmbedding, (self.vectors, self.tokenizer, self.sha256)

    @cached_property
    def _loaded(self) -> tuple[NDArray[Any], Any]:
        """The table (tokens, width) and the tokenizer."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingDependency(
                "a sentence embedding needs tokenizers: pip install 'wordllama>=0.4' 'tokenizers>=0.15'"
            ) from error
        data = []
        for file, digest in zip((self.vectors, self.tokenizer), self.sha256, strict=True):
            if limited_io.file_digest(file) != digest:
                raise InvalidParameter(
                    f"{file}: not the file that the map names: its SHA-256 is another. Put that file back"
                )
            data.append(limited_io.read_file(file, _LARGEST))
        try:
            (table,) = load(data[0]).values()
            tokens = Tokenizer.from_buffer(data[1])
        except (SafetensorError, ValueError) as error:
            raise InvalidParameter(
                f"{self.vectors}, {self.tokenizer}: not one table of vectors and a tokenizer ({error})"
            ) from error
        if table.ndim != 2 or tokens.get_vocab_size() > len(table):
            raise InvalidParameter(f"{self.vectors}: fewer vectors than the tokenizer has tokens")
        check_width(self.kind, table.shape[1])
        tokens.no_truncation()
        tokens.no_padding()
        return table, tokens

    def features(self, inputs: Sequence[str]) -> Floats:
        """Return (texts, width) float64, the mean of a text's token vectors; zeros for a text without tokens.

        Raises:
            InvalidRecords: If an input is not a text, or has more than 2^20 characters.
            InvalidParameter: If a file is missing or has another digest.
            MissingDependency: If tokenizers is not installed.
        """
        table, tokens = self._loaded
        made = np.zeros((len(inputs), self.width))
        for row, text in zip(made, inputs, strict=True):
            if not isinstance(text, str) or len(text) > _LONGEST:
                raise InvalidRecords(f"the map 'sentences' reads texts of at most {_LONGEST} characters, one a record")
            found = tokens.encode(text, add_special_tokens=False).ids
            if found:
                row[:] = table[found].astype(np.float64).mean(axis=0)
        return made
