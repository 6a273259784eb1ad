"""A model that plays a script, behind the same response types and aggregation as Gemini."""

import asyncio
import contextvars
import copy
import dataclasses
import itertools
from collections import defaultdict

from google.adk.models import BaseLlm, LlmResponse
from google.adk.models.google_llm import _ResourceExhaustedError
from google.adk.utils.streaming_utils import StreamingResponseAggregator
from google.genai import errors, types

SESSION = contextvars.ContextVar("session", default="")  # of the run that asks
ASKED = defaultdict(int)  # how often a session has asked a script
SCRIPTS = itertools.count()


@dataclasses.dataclass
class Turn:
    """One answer of the model: chunks of parts, and what comes with them."""

    chunks: list
    after: float = 0.03
    finish: str | None = "STOP"
    usage: bool = True
    error: Exception | None = None


def say(*texts, **options):
    """Answers with a text, streamed in as many chunks as there are texts."""
    return Turn([[types.Part(text=text)] for text in texts], **options)


def think(thought, text, **options):
    return Turn([[types.Part(text=thought, thought=True)], [types.Part(text=text)]], **options)


def call(name, /, after=0.03, **args):
    return Turn([[called(name, **args)]], after=after)


def called(name, /, **args):
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


def calls(*parts, **options):
    """Calls several tools in one answer; a string is a call without arguments."""
    return Turn([[called(part) if isinstance(part, str) else part for part in parts]], **options)


def stop(reason, *texts, **options):
    """Ends with a reason other than STOP; without texts, without content."""
    turn = say(*texts, **options) if texts else Turn([[]], **options)
    turn.finish = reason
    return turn


def fail(error, *texts, **options):
    """Raises an error, or what google-genai raises for an HTTP status; when streaming, after the texts."""
    if isinstance(error, int):
        status = {429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[error]
        body = {"error": {"code": error, "message": "the model is out of order", "status": status}}
        kind = errors.ClientError if error < 500 else errors.ServerError
        error = kind(error, body)
        if error.code == 429:
            error = _ResourceExhaustedError(error)
    return dataclasses.replace(say(*texts, finish=None, **options), error=error)


class Scripted(BaseLlm):
    """Answers the Nth question of a session with turn N of its script, and begins again at the end."""

    turns: list[Turn]
    script: int

    async def generate_content_async(self, llm_request, stream=False):
        key = SESSION.get(), self.script
        number = ASKED[key]
        ASKED[key] += 1
        turn = self.turns[number % len(self.turns)]
        # ADK writes the ids of calls into what it is given, so that each answer needs parts of its own.
        turn = dataclasses.replace(turn, chunks=copy.deepcopy(turn.chunks))
        await asyncio.sleep(turn.after)
        if turn.error is not None and not (stream and turn.chunks):
            raise turn.error
        if not stream:
            yield LlmResponse.create(self.response(turn, len(turn.chunks), number, list(merged(turn.chunks))))
            return
        aggregator = StreamingResponseAggregator()
        last = None
        for i, parts in enumerate(turn.chunks):
            response = self.response(turn, i + 1, number, parts)
            last = response.usage_metadata or last
            async for part in aggregator.process_response(response):
                yield part
        if turn.error is not None:
            raise turn.error
        if (whole := aggregator.close()) is not None:
            if whole.usage_metadata is None:
                whole.usage_metadata = last
            yield whole

    def response(self, turn, chunk, number, parts):
        """One GenerateContentResponse: the first so many chunks' usage, which grows as Gemini's does."""
        candidate = types.Candidate(index=0)
        if parts:
            candidate.content = types.Content(role="model", parts=parts)
        if chunk == len(turn.chunks) and turn.finish:
            candidate.finish_reason = types.FinishReason(turn.finish)
        response = types.GenerateContentResponse(candidates=[candidate], model_version=self.model + "-001")
        if turn.usage:
            prompt, answer = 100 + 10 * number, 0
            thought = 0
            for part in itertools.chain.from_iterable(turn.chunks[:chunk]):
                if part.thought:
                    thought += 2
                else:
                    answer += 3
            response.usage_metadata = types.GenerateContentResponseUsageMetadata(
                prompt_token_count=prompt, candidates_token_count=answer, thoughts_token_count=thought or None,
                total_token_count=prompt + answer + thought)
        return response


def merged(chunks):
    """The parts of all chunks, with neighboring texts as one."""
    last = None
    for part in itertools.chain.from_iterable(chunks):
        if last is not None and last.text and part.text and last.thought == part.thought:
            last = types.Part(text=last.text + part.text, thought=last.thought)
            continue
        if last is not None:
            yield last
        last = part
    if last is not None:
        yield last


def model(*turns):
    return Scripted(model="scripted", turns=list(turns), script=next(SCRIPTS))
