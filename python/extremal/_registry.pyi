"""Functions for everything that the library has registered, with signature and documentation."""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter
from typing import Any

from ._core import Learner, _Entry

def cite(learner: Learner | str) -> str: ...
def python_name(name: str) -> str: ...
def as_text(value: Any, nested: bool) -> str: ...
def spec_of(entry: _Entry, given: Mapping[str, Any]) -> str: ...
def make(
    kind: str,
    module: str,
    build: Callable[..., Any],
    *,
    before: Iterable[str] = (),
    after: Iterable[Parameter] = (),
    about: Mapping[str, tuple[str, str]] | None = None,
    guarantee: str = "Constants",
    instead: Callable[[str, Mapping[str, Any]], Any] | None = None,
) -> dict[str, Callable[..., Any]]: ...
