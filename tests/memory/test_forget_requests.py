"""A request to forget something is told from everything else that is said about forgetting."""

import pytest

from server.memory.forget_requests import ForgetRequest, forget_request

LAST = ForgetRequest()
TALK = ForgetRequest(is_talk=True)


@pytest.mark.parametrize(
    ("said", "language", "wanted"),
    [
        ("Forget that.", "en", LAST),
        ("Please forget that!", "en", LAST),
        ("Can you forget what I just said?", "en", LAST),
        ("Delete everything I just told you, please.", "en", LAST),
        ("Forget this conversation.", "en", TALK),
        ("Forget what I told you about my son.", "en", ForgetRequest("my son")),
        (
            "Could you forget everything you know about my job, please?",
            "en",
            ForgetRequest("my job"),
        ),
        ("Delete your memories of Kyoto.", "en", ForgetRequest("Kyoto")),
        (
            "Forget everything I've ever said about the operation.",
            "en",
            ForgetRequest("the operation"),
        ),
        ("Forget about my ex-husband.", "en", ForgetRequest("my ex-husband")),
        ("My code is 4711. Forget that.", "en", ForgetRequest(is_alone=False)),
        ("それは忘れて。", "ja", LAST),
        ("今のは忘れてください。", "ja", LAST),
        ("さっき言ったことは忘れて。", "ja", LAST),
        ("ねえ、さっきの話は忘れて。", "ja", TALK),
        ("さっきの話、全部消してくれる？", "ja", TALK),
        ("息子のことは忘れて。", "ja", ForgetRequest("息子")),
        ("仕事の話は忘れてほしいんだ。", "ja", ForgetRequest("仕事")),
        ("病気について話したことを忘れてください。", "ja", ForgetRequest("病気")),
        ("母の手術のことは全部忘れてね。", "ja", ForgetRequest("母の手術")),
        ("暗証番号は4711。今のは忘れて。", "ja", ForgetRequest(is_alone=False)),
        ("忘掉我刚才说的话。", "zh", LAST),
        ("请把刚才的话忘掉吧。", "zh", LAST),
        ("忘了这件事吧。", "zh", LAST),
        ("忘掉我说的关于我儿子的事。", "zh", ForgetRequest("我儿子")),
        ("请忘记关于手术的一切。", "zh", ForgetRequest("手术")),
        ("把关于工作的事都忘掉吧。", "zh", ForgetRequest("工作")),
        ("把我儿子的事忘了吧。", "zh", ForgetRequest("我儿子")),
    ],
)
def test_a_request_is_understood(said: str, language: str, wanted: ForgetRequest) -> None:
    assert forget_request(said, language) == wanted


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("I forgot that.", "en"),
        ("Don't forget that.", "en"),
        ("Never forget what I told you about my son.", "en"),
        ("Forget it.", "en"),
        ("Forget that, let's talk about food.", "en"),
        ("I can't forget what she said about my son.", "en"),
        ("Did you forget what I told you about my son?", "en"),
        ("I want to forget about my day.", "en"),
        ("Forget everything about me.", "en"),
        ("Don't remember this.", "en"),
        ("What did I tell you about my son?", "en"),
        ("傘のことを忘れてた。", "ja"),
        ("息子のことは忘れてないよ。", "ja"),
        ("宿題のことを忘れて、怒られた。", "ja"),
        ("息子のことは忘れないで。", "ja"),
        ("それは忘れてしまった。", "ja"),
        ("私のことは忘れて。", "ja"),
        ("これは覚えないで。", "ja"),
        ("忘れて。", "ja"),
        ("我忘了关于手术的事。", "zh"),
        ("别忘了我刚才说的话。", "zh"),
        ("不要忘记关于手术的事。", "zh"),
        ("我忘不了那件事。", "zh"),
        ("你忘了吗？", "zh"),
        ("忘掉关于我的一切。", "zh"),
        ("", "en"),
    ],
)
def test_what_is_none_is_left_alone(said: str, language: str) -> None:
    assert forget_request(said, language) is None
