"""Grave matters are found in all languages, and only those that were named bear out what is made of a talk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.grave import grave_matters, is_borne_out, means_less_in_part


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "The speaker wants to die.", "The weather is fine today."),
        ("en", "The speaker wants to die.", "My husband died in March."),
        ("en", "The speaker wants to murder people.", "I like tea."),
        ("en", "How was the abortion?", "I had a haircut."),
        ("en", "You have cancer.", "I have diabetes."),
        ("en", "You are an alcoholic.", "My brother has diabetes."),
        ("en", "You owe your brother money, a debt of years.", "I met my brother."),
        ("ja", "死にたいと言っていた。", "夫が亡くなったんだ。"),
        ("ja", "浮気を打ち明けた。", "お茶が好き。"),
        ("ja", "借金で困っている。", "買い物で困っている。"),
        ("zh", "说话人想自杀。", "今天天气很好。"),
        ("zh", "你被公司开除了。", "我去公司上班了。"),
    ],
)
def test_what_was_not_named_is_not_borne_out(language: str, text: str, told: str) -> None:
    assert not is_borne_out(text, [told], language)


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "You mourn your husband's death.", "My husband passed away in March."),
        ("en", "You argued with your sister.", "I had a fight with my sister."),
        ("en", "You lost your job.", "They laid me off on Monday."),
        ("en", "You talked about the garden.", "The roses are in bloom."),
        ("ja", "夫との死別が話題になった。", "夫が去年亡くなったんだ。"),
        ("ja", "上司に腹を立てている。", "上司が大嫌いだ。"),
        ("zh", "你奶奶的去世让你难过。", "我奶奶上个月走了。"),
    ],
)
def test_other_words_for_the_same_matter_are_borne_out(language: str, text: str, told: str) -> None:
    assert is_borne_out(text, [told], language)


def test_of_violence_a_part_says_something_else_than_the_whole() -> None:
    assert means_less_in_part("I want to kill", "en")
    assert not means_less_in_part("I like my garden", "en")


@given(st.text(max_size=80), st.sampled_from(["ja", "en", "zh", "xx"]))
def test_what_was_said_bears_itself_out(text: str, language: str) -> None:
    assert is_borne_out(text, [text], language)
    assert grave_matters(text, language) >= grave_matters("", language)
