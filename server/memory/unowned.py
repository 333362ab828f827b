"""Finds what tells of the speaker's day or body without a word for them or theirs: "Yesterday's dinner was curry", 昨天去了公园.

Such a sentence says when, or what everybody has, and leaves out whose it is; news and what is so everywhere name their own
subject.
"""

import re

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_DAY = rf"""(?:yesterday|today|tomorrow|tonight|last\ night|(?:this|yesterday|tomorrow)\ (?:morning|afternoon|evening)
    |(?:(?:last|next|this)\ )?{_WEEKDAY}(?:\ (?:morning|afternoon|evening|night))?|(?:last|next|this)\ (?:week|weekend|month))"""
_MEAL = r"(?:breakfast|lunch|dinner|supper)"
_EVENT = r"""(?:appointment|check-?up|visit|meeting|interview|exam|party|barbecue|bbq|picnic|outing|trip|flight|concert|recital|rehearsal|class|lesson
    |session|therapy|physio|dialysis|injection|quiz|bingo|choir|christening|reunion|dance|film|movie|match|game|walk|holiday|delivery)"""
_DAILY = rf"""(?:{_MEAL}|{_EVENT}|tea|meals?|pudding|dessert|snack|soup|nap|bath|shower|blood\ (?:pressure|sugar)|homework|shift|drive|run|ride|swim|workout
    |sleep|talk|call)"""
_PUT_ELSEWHERE = (
    r"(?:(?:now\ )?off|cancel\w*|called\ off|postponed|put\ off|moved|rescheduled|brought\ forward)"
)
_ENGLISH = re.compile(
    rf"""
    \b{_DAY}'s\ (?:[\w-]+\ ){{0,2}}?{_DAILY}\b
    | ^\W*(?:the\ )?{_DAILY}\ {_DAY}\ (?:was|were|is|will)\b
    | ^\W*(?:for\ )?{_MEAL}(?:\ (?:was|will\ be)\b|,?\ (?:there\ (?:was|were|is)|it\ was)\b) | ^\W*there\ (?:was|were|is|will\ be|'ll\ be)\b.*\bfor\ (?:{_MEAL}|tea)\b
    | \bthe\ (?:[\w-]+\ )?{_EVENT}\b.*\b(?:{_DAY}|{_PUT_ELSEWHERE})\b
    | ^\W*(?:[\w']+\ ){{1,3}}(?:is|are|starts?|meets?)\ (?:on|every)\ (?:a\ )?{_WEEKDAY}s?\b
    """,
    re.VERBOSE | re.IGNORECASE,
)

_NUMBER_ZH = "[0-9〇零一二三四五六七八九十两]"
_TIME_ZH = rf"""(?:大?[今昨前明后][天日]|[今昨明前][晚早]|昨夜|今天早上|(?:上|下|这|本|每)个?(?:周末|(?:周|星期|礼拜)[一二三四五六日天]?|月)|(?:周末|(?:周|星期|礼拜)[一二三四五六日天])
    |每[天晚早]|最近|刚才|刚刚|去年|今年|明年|平时|早上|上午|中午|下午|晚上|{_NUMBER_ZH}{{1,3}}[点月日号]半?|现在(?=改|正?在|不|没|还|都|换|只|每))"""
_HOW_ZH = r"(?:都|又|也|还|已经|终于|才|就|只|没有?|不用?|不能|要|得|想|打算|准备|会|开始|正?在|一直|总是|经常|自己|改|多|少|一个人|[和跟][^，。]{1,4}?(?=去|吃|喝|看|打|聊))"
_DOES_ZH = r"""(?:吃|喝|睡|去|来(?![自说源看])|看(?![来起样])|买|做(?!人)|学(?![生校费者历])|量|打(?![雷折])|写(?!字楼)|读|洗|走(?!势)|跑|散步|锻炼|练|跳舞|唱|画|织|种(?![类族])|养|搬|住(?![宅房])
    |出院|住院|摔|跌倒|丢|忘|感冒|发烧|咳|见|约|参加|骑|开车|下棋|上(?=班|课|学|医院|街|山|楼)|换|戒|服|停药|收到|包饺子|煮|炒|聚|起床|起得|游泳|旅游|钓|聊)"""
_EVENT_ZH = "(?:婚礼|葬礼|手术|聚会|聚餐|体检|复查|检查|预约|面试|考试|旅行|旅游|演出|约会|化疗|透析|理疗|宾果|课)"
_BODY_ZH = "(?:[左右]?(?:腰|背|膝盖|腿|脚|手|肩膀?|脖子|耳朵?|眼睛?)|头|牙|胃|肚子|胸口?|嗓子|喉咙|心口|关节|浑身|全身)"
_CHINESE = re.compile(
    rf"""
    ^(?:{_TIME_ZH}的?)+{_HOW_ZH}*{_DOES_ZH} | ^(?:刚刚?|刚才|已经|终于|又|也|早就)*{_DOES_ZH}(?:了|过(?!来|去)|完)
    | ^(?:{_TIME_ZH}的?)*{_BODY_ZH}(?:又|还|有点儿?|一直|很|好|特别|{_TIME_ZH})*(?:[疼痛酸麻肿痒晕]|不舒服|难受|看不清|听不[见清])
    | ^是?对[^，。不]{{1,8}}过敏(?=[，。！!]|$)
    | ^(?:{_TIME_ZH}的?)+(?:[早午中晚](?:饭|餐)|夜宵|{_EVENT_ZH}) | ^(?:那个|这个|那场)?{_EVENT_ZH}[^，。]{{0,8}}?(?:取消|推迟|延期|提前|改到|改成|定在|(?:是|在){_TIME_ZH})
    | ^[^，。我你他她]{{0,8}}(?:药|胰岛素|沙坦|地平|普利|他汀|双胍|华法林)[^，。]{{0,4}}?(?:停|吃完|用完|没了|换|改|加量|减量|减半)
    | ^(?:{_TIME_ZH}的?)+有[^，。]{{0,6}}{_EVENT_ZH}
    """,
    re.VERBOSE,
)


def leaves_out_whose(sentence: str, language: str) -> bool:
    """Say whether a sentence in English or Chinese tells of the speaker's own day or body and leaves out that it is theirs."""
    return (_CHINESE if language == "zh" else _ENGLISH).search(sentence) is not None
