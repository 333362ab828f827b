"""What an error of an OpenAI-compatible endpoint means: ask again, ask for less, or say so."""

import re

import openai

from server.config import OpenAiLlmSection
from server.endpoint import redirect_of, short_code
from server.errors import LlmError

_RETRIED_STATUS = frozenset({408, 409, 429})
_RETRY_DELAY_SECONDS = 0.3
_LEAST_SECONDS_FOR_RETRY = 1.0

_OPTIONAL = ("stream_options", "max_tokens", "temperature")
"""What some servers and models refuse, and a reply can do without."""
FORMATS = ("json_schema", "json_object")
"""How an answer in JSON can be asked for, the best first; without either it is only told to be JSON."""

_FORMAT = re.compile(
    r"response_format|json.?(?:schema|object|mode)|structured.output", re.IGNORECASE
)
_SECONDS = re.compile(r"\d{1,3}(\.\d+)?")


def too_long(what: str) -> LlmError:
    """Return the error for an answer that does not end; see `server.endpoint.open_client`."""
    advice = "Check that llm.openai.base_url is the address of a model server."
    return LlmError("llm-failed", f"The language model {what} {advice}")


def explain(error: openai.APIError, where: str, own: OpenAiLlmSection) -> LlmError:
    """Return the error for the rest of the program, with what to do.

    What the server wrote is left out: it may quote the key, or what was said.

    Args:
        error: What the client raised.
        where: The endpoint, without secrets.
        own: Names the settings to look at.
    """
    match error:
        case openai.APITimeoutError():
            code, what = "llm-timeout", "took too long."
        case openai.APIConnectionError():
            code = "llm-unreachable"
            what = "can't be reached. Check that it runs, the network, and llm.openai.base_url."
        case openai.APIStatusError():
            code, what = _explain_status(error, own)
        case _:
            code, what = "llm-failed", f"broke off its answer{short_code(error)}."
    return LlmError(code, f"The language model at {where} {what}")


def _explain_status(error: openai.APIStatusError, own: OpenAiLlmSection) -> tuple[str, str]:
    """Return the code, and what the endpoint does."""
    if elsewhere := redirect_of(error.response):
        return "llm-failed", (
            f"has moved to {elsewhere}. What was said is sent nowhere but to the configured address: if you trust the "
            "new one, set llm.openai.base_url to it."
        )
    match error.status_code:
        case 401 | 403:
            return "llm-refused", (
                f"refuses the key. Check llm.openai.api_key or the variable {own.api_key_env}."
            )
        case 404 if _names_model(error, own.model):
            return "llm-model-missing", f"has no model {own.model!r}. Check llm.openai.model."
        case 404:
            return "llm-failed", (
                f"knows no model {own.model!r}, or not this path. Check llm.openai.model, and that llm.openai.base_url "
                "ends as the service says (often in /v1)."
            )
        case 429:
            return (
                "llm-rate-limited",
                "asks for less: too many requests, or the account is used up.",
            )
        case status:
            return "llm-failed", f"answered with HTTP status {status}{short_code(error)}."


def refused_option(
    error: openai.APIError, refused: set[str], *, has_format: bool = False
) -> str | None:
    """Return the option to leave out next, if the server may have meant one.

    Args:
        error: What the client raised.
        refused: What was left out already.
        has_format: Whether a format was asked for, in so far as it was not left out.
    """
    if getattr(error, "status_code", 0) not in (400, 422):
        return None
    message = str(error)
    formats = [format_ for format_ in FORMATS if has_format and format_ not in refused]
    left = [option for option in _OPTIONAL if option not in refused]
    named = formats if _FORMAT.search(message) else []
    named = named or [option for option in left if option in message]
    # Servers rarely say that it is a format or stream_options that they don't know.
    silent = formats or [option for option in left if option == "stream_options"]
    return next(iter(named or silent), None)


def retry_delay(error: openai.APIError, seconds_left: float) -> float | None:
    """Return how long to wait before asking again; None if that is of no use or there is no time."""
    if not _may_pass(error):
        return None
    delay = _RETRY_DELAY_SECONDS
    if isinstance(error, openai.APIStatusError):
        wish = error.response.headers.get("retry-after", "")
        delay = max(delay, float(wish) if _SECONDS.fullmatch(wish) else 0.0)
    return delay if delay + _LEAST_SECONDS_FOR_RETRY < seconds_left else None


def _may_pass(error: openai.APIError) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _RETRIED_STATUS or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


def _names_model(error: openai.APIStatusError, model: str) -> bool:
    """Whether it is the model that was not found, and not the path: servers of all makes name it then."""
    named = re.search(rf"(?<!\w){re.escape(model)}(?!\w)", str(error.body))
    return error.code == "model_not_found" or named is not None
