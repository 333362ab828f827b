"""What a bare weekday, month or clock time means follows from the verb beside it."""

from datetime import datetime

import pytest

from server.memory.temporal import Tense, find_times
from tests.memory.times import SUNDAY, TOKYO, read

PAST, COMING, TODAY = "2026-09-26", "2026-10-03", "2026-09-27"


@pytest.mark.parametrize(
    "text",
    [
        "土曜に映画を見た",
        "土曜は楽しかった",
        "土曜に飲んだ",
        "土曜に友達と会いました",
        "土曜は雨だった",
        "土曜に行ったレストランにまた行きたい",
        "土曜に買った本、明日から読む",
        "土曜は仕事でした",
        "土曜に泳いだよ",
        "土曜は何してた?",
    ],
)
def test_a_japanese_past_verb_means_the_last_such_day(text: str) -> None:
    assert read(text, "ja")[0] == f"土曜 = {PAST}"


@pytest.mark.parametrize(
    "text",
    [
        "土曜に映画を見る",
        "土曜に映画を見たい",
        "土曜に行くんだ",
        "土曜に会うと言ってた",
        "土曜は休みです",
        "土曜、空いてる?",
        "土曜の予定は?",
        "土曜に会おうよ",
        "土曜までに出して",
        "土曜にあした葉を買う",
        "土曜に行った方がいい",
        "土曜、仕事が終わった後に会おう",
        "土曜はしたいことがある",
        "土曜に着きます",
        "土曜",
    ],
)
def test_any_other_japanese_verb_means_the_coming_one(text: str) -> None:
    assert read(text, "ja")[0] == f"土曜 = {COMING}"


@pytest.mark.parametrize(
    "text",
    [
        "We went to Hakone on Saturday",
        "On Saturday I finally visited my sister",
        "What did I do on Saturday?",
        "I know I had fun on Saturday, and I will go again",
        "She said it was nice on Saturday",
    ],
)
def test_an_english_past_verb_means_the_last_such_day(text: str) -> None:
    assert read(text, "en") == [f"Saturday = {PAST}"]


@pytest.mark.parametrize(
    "text",
    [
        "I'm going to Hakone on Saturday",
        "We were tired, but we'll go on Saturday",
        "She said she will come on Saturday",
        "I'm excited for Saturday!",
        "I need the red one on Saturday",
        "Any plans on Saturday?",
        "I booked it for Saturday",
    ],
)
def test_any_other_english_verb_means_the_coming_one(text: str) -> None:
    assert read(text, "en") == [f"Saturday = {COMING}"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("周六看了电影", PAST),
        ("周六去过箱根", PAST),
        ("周六我要去医院", COMING),
        ("周六要出发了", COMING),
        ("周六开会", COMING),
    ],
)
def test_chinese_particles_tell_the_tense(text: str, day: str) -> None:
    assert read(text, "zh") == [f"周六 = {day}"]


def test_a_weekday_that_is_today_means_today_only_in_the_present() -> None:
    assert read("日曜だから家にいる", "ja") == [f"日曜 = {TODAY}"]
    assert read("日曜に会おう", "ja") == ["日曜 = 2026-10-04"]
    assert read("日曜に会った", "ja") == ["日曜 = 2026-09-20"]
    assert read("I am at home, it is Sunday", "en") == [f"Sunday = {TODAY}"]


def test_this_such_day_may_be_today_also_in_the_past() -> None:
    assert read("I was tired this Sunday", "en") == [f"this Sunday = {TODAY}"]
    assert read("I was tired this Saturday", "en") == [f"this Saturday = {PAST}"]


def test_a_tense_that_is_given_outweighs_the_words() -> None:
    def day(tense: Tense) -> str:
        return f"{find_times('土曜に見た', 'ja', SUNDAY, tense=tense)[0].since:%Y-%m-%d}"

    assert day(Tense.FUTURE) == COMING
    assert day(Tense.PAST) == PAST


def test_a_guess_is_marked_as_one() -> None:
    def certain(text: str, language: str = "ja") -> bool:
        return find_times(text, language, SUNDAY)[0].certain

    assert certain("来週の土曜")
    assert certain("今度の土曜")
    assert certain("明日の15時")
    assert certain("10月3日")
    assert not certain("土曜に行く")
    assert not certain("明日の3時")
    assert not certain("3日に行く")
    assert not certain("最近")
    assert not certain("この夏")
    assert not certain("2週間前")
    assert not certain("a couple of days ago", "en")


def test_without_a_verb_a_day_just_gone_is_nearer_than_next_years() -> None:
    assert read("9月20日", "ja") == ["9月20日 = 2026-09-20"]
    assert read("敬老の日", "ja") == ["敬老の日 = 2026-09-21"]
    assert read("5月5日", "ja") == ["5月5日 = 2027-05-05"]


@pytest.mark.parametrize(
    ("text", "language", "at", "expected"),
    [
        ("12時45分に食べた", "ja", "2026-09-28T00:30", "12時45分 = 2026-09-27T12:45"),
        ("23時に寝た", "ja", "2026-09-28T07:00", "23時 = 2026-09-27T23:00"),
        ("8時に電話する", "ja", "2026-09-27T10:00", "8時 = 2026-09-27T20:00"),
        ("7時に起こして", "ja", "2026-09-27T22:00", "7時 = 2026-09-28T07:00"),
        ("wake me up at 7", "en", "2026-09-27T22:00", "7 = 2026-09-28T07:00"),
        ("I woke up at 7", "en", "2026-09-27T21:00", "7 = 2026-09-27T07:00"),
        ("I'll call you at 9 a.m.", "en", "2026-09-27T21:00", "9 a.m. = 2026-09-28T09:00"),
    ],
)
def test_a_bare_clock_time_is_the_last_or_the_next_one(
    text: str, language: str, at: str, expected: str
) -> None:
    said_at = datetime.fromisoformat(at).replace(tzinfo=TOKYO)

    assert read(text, language, said_at) == [expected]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ('You said: "Mum comes on Thursday."', "2026-11-19"),
        ('You said: "My brother visits us on Tuesday the 24th."', "2026-11-24"),
        ('You said: "I went there on Thursday."', "2026-11-12"),
        ("The dentist moved my appointment to Monday the 23rd.", "2026-11-23"),
        ("We postponed the party to December 5.", "2026-12-05"),
        ("The meeting was moved to Friday.", "2026-11-20"),
        ("I bought tickets for the concert on Friday.", "2026-11-20"),
        ("I got my driving test date: Wednesday the 25th.", "2026-11-25"),
        ("I moved to Leeds in March.", "2026-03-01"),
    ],
)
def test_a_day_that_something_is_moved_to_lies_ahead_and_a_quotation_has_its_own_tense(
    said: str, day: str
) -> None:
    now = datetime(2026, 11, 15, 12, tzinfo=TOKYO)
    [span] = find_times(said, "en", now)
    assert str(span.first_day) == day


THURSDAY = datetime(2026, 11, 19, 10, tzinfo=TOKYO)


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        ("10月3日に結婚することになった。", "ja", "2027-10-03"),
        ("12月15日に眼科を予約した。", "ja", "2026-12-15"),
        ("11月10日に眼科を予約してきた。", "ja", "2026-11-10"),
        ("面接は金曜に決まった。", "ja", "2026-11-20"),
        ("同窓会は12月5日に延期になったよ。", "ja", "2026-12-05"),
        ("手術は12月3日だと言われた。", "ja", "2026-12-03"),
        ("土曜に飲みに誘われた。", "ja", "2026-11-21"),
        ("土曜のライブのチケットを買った。", "ja", "2026-11-21"),
        ("土曜に飲みに行った。", "ja", "2026-11-14"),
        ("土曜の夜に本を買った。", "ja", "2026-11-14"),
        ("They moved my exam to Friday.", "en", "2026-11-20"),
        ("I was told to come back on December 3.", "en", "2026-12-03"),
        ("I promised Mom to visit her on Friday.", "en", "2026-11-20"),
        ("I signed up for the race on December 11.", "en", "2026-12-11"),
        ("我的考试改到周五了。", "zh", "2026-11-20"),
        ("我预约了十二月十五日的牙医。", "zh", "2026-12-15"),
        ("我周六看了电影。", "zh", "2026-11-14"),
    ],
)
def test_what_was_settled_says_nothing_of_the_day_it_was_settled_for(
    said: str, language: str, day: str
) -> None:
    [span] = find_times(said, language, THURSDAY)
    assert str(span.first_day) == day


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("I'm scheduled for an MRI on December 15th.", "2026-12-15"),
        ("My lease is renewed on December 1.", "2026-12-01"),
        ("My pension is paid on the 28th.", "2026-11-28"),
        ("I'm worried about Friday's exam.", "2026-11-20"),
        ("I'm tired and have an exam on Friday.", "2026-11-20"),
        ("Grandma's hip is being replaced on Monday.", "2026-11-23"),
        ("I'm getting married in May.", "2027-05-01"),
        ("I got married in May.", "2026-05-01"),
        ("I'm getting my cast removed on Friday.", "2026-11-20"),
        ("I had my cast removed on Friday.", "2026-11-13"),
        ("The package I ordered arrives on Friday.", "2026-11-20"),
        ("My friend who moved to Paris visits me on Friday.", "2026-11-20"),
        ("Fred visits me on December 3.", "2026-12-03"),
        ("I clean the shed on Saturday.", "2026-11-21"),
        ("We cleaned the shed on Saturday.", "2026-11-14"),
    ],
)
def test_a_participle_that_tells_how_things_are_is_no_past(said: str, day: str) -> None:
    [span] = find_times(said, "en", THURSDAY)
    assert str(span.first_day) == day


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        ("8月から通っている。", "ja", "2026-08-01"),
        ("月曜から腰が痛い。", "ja", "2026-11-16"),
        ("月曜から熱がある。", "ja", "2026-11-16"),
        ("9月からデイサービスに通い始めた。", "ja", "2026-09-01"),
        ("8月から無職だ。", "ja", "2026-08-01"),
        ("去年から一人暮らしだ。", "ja", "2025-01-01"),
        ("I've been ill since Monday.", "en", "2026-11-16"),
        ("My knee hurts since Tuesday.", "en", "2026-11-17"),
        ("Since June I've been walking with a stick.", "en", "2026-06-01"),
        ("I've been sober since New Year's Day.", "en", "2026-01-01"),
        ("我从周一开始头疼。", "zh", "2026-11-16"),
        ("我从八月起在这里工作。", "zh", "2026-08-01"),
    ],
)
def test_what_still_lasts_began_before(said: str, language: str, day: str) -> None:
    [span] = find_times(said, language, THURSDAY)
    assert str(span.first_day) == day


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        ("月曜から東京に行く。", "ja", "2026-11-23"),
        ("12月から新しい施設に入る。", "ja", "2026-12-01"),
        ("从下周一开始我去上班。", "zh", "2026-11-23"),
    ],
)
def test_what_is_to_begin_lies_ahead(said: str, language: str, day: str) -> None:
    [span] = find_times(said, language, THURSDAY)
    assert str(span.first_day) == day


MONDAY = datetime(2026, 9, 28, 9, tzinfo=TOKYO)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("日曜に孫の大輔が来てくれた。", "2026-09-27"),
        ("金曜に会いに来てくれたの。", "2026-09-25"),
        ("金曜に娘が電話をくれました。", "2026-09-25"),
        ("土曜に手伝ってくれてありがとう。", "2026-09-26"),
        ("敬老の日に孫が来てくれた。", "2026-09-21"),
        ("7日に孫が来てくれた。", "2026-09-07"),
        ("日曜に動物園に行ってきた。", "2026-09-27"),
        ("土曜に病院に行って薬をもらった。", "2026-09-26"),
        ("7日に病院に行って検査した。", "2026-09-07"),
        ("日曜に息子に連れて行ってもらった。", "2026-09-27"),
        ("土曜は病院に行かなかった。", "2026-09-26"),
        ("土曜は病院に行けなかった。", "2026-09-26"),
        ("土曜に転んじゃって。", "2026-09-26"),
        ("火曜に入れ歯をなくしちゃってね。", "2026-09-22"),
        ("土曜に財布をなくしてしまって。", "2026-09-26"),
    ],
)
def test_what_was_done_for_somebody_on_a_trip_or_by_mishap_is_past(said: str, day: str) -> None:
    assert str(find_times(said, "ja", MONDAY)[0].first_day) == day


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("金曜に電話してくれる。", "2026-10-02"),
        ("金曜に電話してくれない?", "2026-10-02"),
        ("金曜に電話してくれたら嬉しい。", "2026-10-02"),
        ("日曜に息子に連れて行ってもらう。", "2026-10-04"),
        ("土曜に病院に行って薬をもらう。", "2026-10-03"),
        ("土曜は病院に行かない。", "2026-10-03"),
        ("7日は病院に行けない。", "2026-10-07"),
        ("土曜に全部食べちゃってよ。", "2026-10-03"),
        ("土曜に片付けてしまってください。", "2026-10-03"),
        ("土曜に来て。", "2026-10-03"),
    ],
)
def test_what_is_asked_or_planned_with_the_same_verbs_lies_ahead(said: str, day: str) -> None:
    assert str(find_times(said, "ja", MONDAY)[0].first_day) == day


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("My son said he would visit on Friday.", "2026-10-02"),
        ("My son told me he would come on Friday.", "2026-10-02"),
        ("My son promised he'd come on Friday.", "2026-10-02"),
        ("My grandson called to say he'd be here Saturday.", "2026-10-03"),
        ("My daughter said she was coming on Friday.", "2026-10-02"),
        ("They told me they were moving on Friday.", "2026-10-02"),
        ("My sister was arriving on Friday.", "2026-10-02"),
        ("I get my flu shot on the 15th.", "2026-10-15"),
        ("I get paid on the 25th.", "2026-10-25"),
        ("My knee shot is on the 15th.", "2026-10-15"),
        ("I have an x-ray of my left knee on the 15th.", "2026-10-15"),
    ],
)
def test_what_was_said_to_come_and_the_present_of_plans_lie_ahead(said: str, day: str) -> None:
    [span] = find_times(said, "en", MONDAY)
    assert str(span.first_day) == day


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("I got my flu shot on the 15th.", "2026-09-15"),
        ("Did I get my flu shot on the 15th?", "2026-09-15"),
        ("I didn't get paid on Friday.", "2026-09-25"),
        ("She shot a goal on Saturday.", "2026-09-26"),
        ("I would have gone on Friday.", "2026-09-25"),
        ("I was cooking on Friday.", "2026-09-25"),
        ("I was coming home on Friday when I fell.", "2026-09-25"),
        ("My aunt said she was ill on Friday.", "2026-09-25"),
        ("I left the hospital on Friday.", "2026-09-25"),
    ],
)
def test_a_past_beside_the_words_of_plans_stays_past(said: str, day: str) -> None:
    [span] = find_times(said, "en", MONDAY)
    assert str(span.first_day) == day


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        ("主人の出張、水曜じゃなくて木曜からになったって。", "ja", "2026-10-01"),
        ("歯医者は月曜ではなくて、火曜です。", "ja", "2026-09-29"),
        ("水曜の会議は木曜になった。", "ja", "2026-10-01"),
        ("水曜の会議が雨で木曜に延期になった。", "ja", "2026-10-01"),
        ("予約を木曜にしてもらった。", "ja", "2026-10-01"),
        ("予約を水曜から木曜に変えてもらった。", "ja", "2026-10-01"),
        ("10月5日の予約を8日にしていただきました。", "ja", "2026-10-08"),
        ("歯医者が10月8日から5日に変更になった。", "ja", "2026-10-05"),
        ("My dentist appointment was moved from Monday to Wednesday.", "en", "2026-09-30"),
        ("My visit was moved from October 5th to October 8th.", "en", "2026-10-08"),
        ("My visit was moved from October 8th to the 5th.", "en", "2026-10-05"),
        ("They rescheduled my surgery from the 5th to the 8th.", "en", "2026-10-08"),
        ("They pushed it from Monday at ten to Wednesday.", "en", "2026-09-30"),
        ("My visit isn't on Wednesday, it's on Thursday.", "en", "2026-10-01"),
        ("My visit is not on October 5th but on October 8th.", "en", "2026-10-08"),
        ("My visit is on October 8th instead of October 5th.", "en", "2026-10-08"),
        ("My visit is on Thursday, not on Wednesday.", "en", "2026-10-01"),
        ("My visit was moved from 3 pm to 5 pm tomorrow.", "en", "2026-09-29"),
        ("是周四开会,不是周三。", "zh", "2026-10-01"),
        ("我的预约从10月5日改到10月8日了。", "zh", "2026-10-08"),
        ("不是周三,是周四开会。", "zh", "2026-10-01"),
    ],
)
def test_of_a_day_and_the_one_it_was_changed_to_the_new_one_is_meant(
    said: str, language: str, day: str
) -> None:
    [span] = find_times(said, language, MONDAY)
    assert (str(span.first_day), str(span.last_day)) == (day, day)


@pytest.mark.parametrize(
    ("said", "language", "days"),
    [
        ("I work from Monday to Wednesday.", "en", ["2026-10-05..2026-10-07"]),
        (
            "I moved to Leeds and worked from Monday to Friday.",
            "en",
            ["2026-09-21..2026-09-25"],
        ),
        (
            "We switched off the heating from Monday to Wednesday.",
            "en",
            ["2026-09-21..2026-09-23"],
        ),
        ("月曜から水曜まで出張する。", "ja", ["2026-10-05..2026-10-07"]),
        ("水曜は病院、木曜は買い物に行く。", "ja", ["2026-09-30", "2026-10-01"]),
        ("土曜にしてもらった検査は痛かった。", "ja", ["2026-09-26"]),
        ("从周一到周三出差。", "zh", ["2026-10-05..2026-10-07"]),
    ],
)
def test_days_that_stand_together_without_a_change_are_all_kept(
    said: str, language: str, days: list[str]
) -> None:
    assert [found.split(" = ")[1] for found in read(said, language, MONDAY)] == days
