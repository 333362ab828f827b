"""The whole talk on one screen: converse() holds a conversation, take_turn() answers one utterance.

VAD → ASR → normalize → retrieve → LLM → sentences → TTS → device.
"""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager as AsyncContext
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

import anyio
import structlog
from anyio.abc import TaskGroup

from firmware_bridge.events import Alert, ShowTranscript, TextSaid
from server.ahead import ahead, produced
from server.config import Config
from server.errors import LlmError, OmoideError
from server.failures import log_fault
from server.floor import Floor
from server.guard import Hit, ReplyGuard, correction, persona_of, touching
from server.heeding import Heeds, put_in_words
from server.introduction import Introduction, introduced_in
from server.listening import listen
from server.memory import TalkMemory
from server.noting import noted, timed
from server.phrasebook import Phrasebook
from server.playback import Playback, play_all
from server.ports import Asr, Clock, Device, Llm, Tts, Vad, Voice
from server.prompting import PromptFiles, compose
from server.punctuation import join_sentences
from server.query import normalize, tidy
from server.reply import Reply
from server.sentences import Sentence
from server.speaking import Part, synthesize
from server.thinking import thinking
from server.trace import Laps, Turns, mark, stage
from server.turn import Happening, Kept, Prompt, Stage, Transcript, Turn
from server.understanding import understand
from server.utterance import Utterance

log = structlog.get_logger(__name__)

PARTS_AHEAD = 40


@dataclass(frozen=True, slots=True)
class Engines:
    """What a conversation listens, thinks and speaks with."""

    vad: Vad
    asr: Asr
    llm: Llm
    tts: Tts


@dataclass(frozen=True, slots=True)
class House:
    """What all conversations of a server share."""

    config: Config
    clock: Clock
    engines: Engines
    memory: TalkMemory
    prompts: PromptFiles
    phrasebook: Phrasebook
    turns: Turns
    heeding: Heeds
    listening: set[Reply] = field(default_factory=set)
    """Those of which the question is being recognised, in all conversations."""


class Conversation:
    """The talk with one device, from its hello until it hangs up."""

    def __init__(self, device: Device, house: House) -> None:
        self.device = device
        self.house = house
        self.floor = Floor(device, house.config)
        self._unanswered: Transcript | None = None
        """What was said in turns that were cut off before anything was heard: the next one answers it, too."""
        self._unanswered_turns: tuple[str, ...] = ()
        self._is_over = False

    async def converse(self) -> None:
        """Hold one conversation: a turn for every utterance, until the device hangs up."""
        house, config = self.house, self.house.config
        async with anyio.create_task_group() as tasks:
            if not self.device.is_guest:
                tasks.start_soon(house.memory.prepare, self.device.person)
            ear = listen(
                self.device,
                house.engines.vad,
                config.vad,
                config.endpointing,
                lambda: self.floor.is_taken,
                config.barge_in.notice_ms,
            )
            try:
                async with aclosing(ear):
                    async for said in ear:
                        if isinstance(said, Utterance | TextSaid):
                            house.memory.make_way()
                            tasks.start_soon(self.take_turn, said, self.floor.take(said), tasks)
                        else:
                            self.floor.heed(said)
            except OmoideError as error:
                language = self._default_language()
                await self._excuse(error, self.floor.speech(), language)
            finally:
                self._is_over = True
            tasks.cancel_scope.cancel()

    async def take_turn(self, said: Utterance | TextSaid, reply: Reply, tasks: TaskGroup) -> None:
        """Answer one utterance. Nothing cancels listening, only answering: all that comes after the transcript.

        Args:
            said: The utterance, perhaps still growing, or a ready text.
            reply: What to cancel for a barge-in; it waits until the one before has been put away.
            tasks: Where what goes on beside the turn runs: the filling of the silence, and giving way to who goes on speaking.
        """
        device = self.device
        with self.house.turns.record(device.id, device.person, is_guest=device.is_guest) as turn:
            try:
                tasks.start_soon(self._fill_silence, said, turn, reply)
                tasks.start_soon(self.floor.give_way, said, reply)
                failure = await self._understand(said, turn, reply)
                self.floor.settle(reply, turn)
                if not reply.is_void:
                    with stage(Stage.PREVIOUS_REPLY):
                        await reply.is_next()
                    with reply.scope:
                        await self._answer_or_apologize(turn, reply, failure)
            finally:
                self._put_away(turn, said, reply)

    async def _understand(
        self, said: Utterance | TextSaid, turn: Turn, reply: Reply
    ) -> OmoideError | None:
        """Fill in the transcript; return what went wrong, as the person must be told of it in due order."""
        house, failure = self.house, None
        house.listening.add(reply)
        try:
            recent = house.memory.recent(self.device.person, house.clock.now())
            talked = recent[-1].language if recent else ""
            with reply.hearing:
                turn.transcript = await understand(
                    said, self.device, house.engines.asr, house.config, talked
                )
        except OmoideError as error:
            failure = error
        finally:
            house.listening.discard(reply)
            reply.understood = True
            if isinstance(said, Utterance):
                reply.asked_at = said.voice_ended_at
        if self._is_over and turn.transcript is None:
            code = failure.code if failure else "server-stopped"
            log.warning("last-words-lost", turn=turn.id, code=code)
        return failure

    async def _fill_silence(self, said: Utterance | TextSaid, turn: Turn, reply: Reply) -> None:
        """Say a short phrase if nothing is to be heard long after the person has finished, whatever it is that lasts."""
        asked_at = reply.asked_at
        with reply.waiting:
            if isinstance(said, Utterance):
                await said.finished()
                if said.is_none:
                    return
                asked_at = said.voice_ended_at
            await anyio.sleep_until(asked_at + self.house.config.pacing.filler_after_seconds)
            await reply.is_next()
            if reply.understood and not self._to_answer(turn):
                return  # nobody waits for an answer
            try:
                filler = self.house.phrasebook.ready(
                    "filler",
                    self._language_of(turn),
                    self.device.playback_rate,
                    name=self.device.voice,
                )
                if filler is not None:
                    await reply.playback.fill(filler)
            except Exception as error:  # a silence is no reason to end the talk
                log_fault("filler-fault", error, turn=turn.id)

    async def _answer_or_apologize(
        self, turn: Turn, reply: Reply, failure: OmoideError | None
    ) -> None:
        await anyio.lowlevel.checkpoint()  # a turn that was cut meanwhile shows nothing
        try:
            if failure is None:
                await self._answer(turn, reply)
        except OmoideError as error:
            failure = error
        except Exception as error:
            log_fault("turn-fault", error, turn=turn.id)
            failure = OmoideError("internal-error", "A fault in the program ended this turn.")
        if failure is not None:
            await self._apologize(turn, reply.playback, failure)

    async def _answer(self, turn: Turn, reply: Reply) -> None:
        house = self.house
        met = self._meet(turn)
        turn.asked = transcript = self._with_unanswered(turn)
        turn.answers, self._unanswered, self._unanswered_turns = self._unanswered_turns, None, ()
        if transcript is None:
            await reply.playback.finish()  # of the filler
            return
        self.device.send(ShowTranscript(transcript.text))
        turn.asked = met.apart(transcript) if met else transcript
        house.heeding.notice(turn)
        heeded = await house.heeding.heed(turn)
        if met is not None:
            words = house.phrasebook.find(met.key, transcript.language)
            heeded = heeded.behind(met.answer(words, transcript.language), alone=not met.rest)
            transcript = replace(transcript, text=met.rest)
        if not heeded.instead:
            await self._recall(turn, transcript)
        laps = Laps()
        guard = self._guard(turn, transcript, laps)
        write = partial(put_in_words, heeded, guard.watch, house.config, transcript.language)
        async with produced(write, 0) as sentences:
            parts = self._speak(sentences.each(), turn, transcript.language, laps)
            async with ahead(parts, PARTS_AHEAD) as ready:
                await play_all(ready, reply.playback)
        if not turn.reply:
            raise LlmError("llm-empty", "The model answered with nothing that can be said.")
        await reply.playback.finish()

    def _meet(self, turn: Turn) -> Introduction | None:
        """Go on as whoever says, now or in a turn that was cut off, that it is them: nothing of the one before goes to them."""
        said = filter(None, (turn.transcript, self._with_unanswered(turn)))
        met = introduced_in(said, self.device, self.house.config.persons)
        turn.introduced = met.head if met is not None else ""
        if met is not None and met.is_known:
            self.device.become(met.person)
            self._unanswered, self._unanswered_turns = None, ()
        turn.person, turn.is_guest = self.device.person, self.device.is_guest
        return met

    async def _recall(self, turn: Turn, transcript: Transcript) -> None:
        """Ask memory what belongs to a question; a guest has none."""
        turn.query = normalize(transcript.text)
        with stage(Stage.RECALL):
            if not turn.is_guest:
                turn.recalled = await self.house.memory.recall(
                    turn.person, transcript.text, transcript.language
                )
        mark(Happening.RECALL_END)

    def _guard(self, turn: Turn, transcript: Transcript, laps: Laps) -> ReplyGuard:
        """Return what lets the reply through, and asks for it once more if it must not be spoken."""
        house = self.house
        persona = persona_of(house.prompts.persona())
        now, lines = house.clock.now(), house.phrasebook.text

        def attempt(hit: Hit | None, said: str) -> AsyncContext[AsyncGenerator[Sentence, None]]:
            prompt = self._compose(turn, transcript, hit, said)
            return thinking(house.engines.llm, prompt, turn, laps, house.config)

        return ReplyGuard(turn, house.config.guard, now, persona, attempt, lines)

    def _compose(self, turn: Turn, transcript: Transcript, hit: Hit | None, said: str) -> Prompt:
        now, files = self.house.clock.now(), self.house.prompts
        return compose(
            files,
            question=transcript.text,
            recalled=touching(turn.recalled, hit),
            history=self.house.memory.recent(turn.person, now),
            now=now,
            language=transcript.language,
            traits=self.house.engines.llm.traits(transcript.language),
            correction=correction(files, hit, turn.recalled, said, transcript.language),
        )

    def _speak(
        self, sentences: AsyncGenerator[Sentence, None], turn: Turn, language: str, laps: Laps
    ) -> AsyncGenerator[Part, None]:
        config, engine = self.house.config, self.house.engines.tts
        passing, rate = noted(sentences, turn, laps), self.device.playback_rate
        voice = Voice(language, self.device.voice, config.tts.speed)
        return timed(synthesize(passing, engine, voice, rate, config.tts), laps)

    async def _apologize(self, turn: Turn, playback: Playback, error: OmoideError) -> None:
        """Say that something went wrong: a failed turn is never silent, and never becomes history."""
        turn.error = error.code
        mark(Happening.ERROR, error.code)
        log.warning("turn-error", turn=turn.id, code=error.code, reason=str(error))
        await self._excuse(error, playback, self._language_of(turn))

    async def _excuse(self, error: OmoideError, playback: Playback, language: str) -> None:
        key = "rest-missing" if playback.started else error.code
        try:
            part = await self.house.phrasebook.part(
                key, language, self.device.playback_rate, name=self.device.voice
            )
            await playback.play(part)
        except OmoideError as worse:
            log.warning("apology-not-spoken", code=worse.code)
            self.device.send(Alert(error.code, self.house.phrasebook.text(error.code, language)))
        await playback.finish()

    def _to_answer(self, turn: Turn) -> Transcript | None:
        """Return the question of a turn, whether or not its answer has been begun; None if there is none."""
        return turn.asked or self._with_unanswered(turn)

    def _with_unanswered(self, turn: Turn) -> Transcript | None:
        """Put what earlier turns left unanswered in front of what was said in this one; its language is the last one's."""
        said = [words for words in (self._unanswered, turn.transcript) if words]
        if not said:
            return None
        joined = join_sentences(words.text for words in said)
        text = tidy(joined, self.house.config.limits.text_chars)
        return Transcript(text, said[-1].language)

    def _put_away(self, turn: Turn, said: Utterance | TextSaid, reply: Reply) -> None:
        """Note how the turn ended, and let the next one begin."""
        playback = reply.playback
        reply.waiting.cancel()
        was_cut = reply.scope.cancel_called or playback.active
        self.floor.leave(reply)
        turn.heard = join_sentences(playback.heard())
        if turn.asked is None:  # so it was not looked at who speaks
            if not reply.finished.is_set():  # the one who did so last; else somebody came meanwhile
                turn.person, turn.is_guest = self.device.person, self.device.is_guest
            self.house.heeding.notice(turn)
        if was_cut and (not turn.heard or turn.heard != turn.reply):
            turn.interrupted = True
            mark(Happening.INTERRUPTED)
        if not reply.finished.is_set() and not reply.is_void:  # a released one has no say any more
            self._hand_on(turn, reply)
        self._measure(turn, said, reply)
        reply.finished.set()

    def _hand_on(self, turn: Turn, reply: Reply) -> None:
        """Leave the question to the next turn if nothing was heard in answer to it. Memory has its words from this one."""
        left = self._to_answer(turn)
        if turn.kept is not Kept.ALL or reply.unwanted or turn.heard or turn.error or not left:
            self._unanswered, self._unanswered_turns = None, ()
        else:
            self._unanswered_turns = (*self._unanswered_turns, *turn.answers, turn.id)
            self._unanswered = left

    def _measure(self, turn: Turn, said: Utterance | TextSaid, reply: Reply) -> None:
        if (first := reply.playback.first_frame_at) is not None:
            turn.first_audio_ms = round((first - reply.asked_at) * 1000, 1)
        if self.house.config.recording.keep_audio:
            turn.said_audio = said.sound() if isinstance(said, Utterance) else None
            turn.reply_audio = reply.playback.sound()

    def _language_of(self, turn: Turn) -> str:
        return turn.question.language if turn.question else self._default_language()

    def _default_language(self) -> str:
        return self.device.language or self.house.config.persona.language
