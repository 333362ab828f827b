"""The Chinese words for days, months, years, their parts, holidays, seasons and parts of the day."""

from collections.abc import Mapping
from typing import Final

from server.memory.temporal import clock_values as hours
from server.memory.temporal.calendar_rules import Season, Section
from server.memory.temporal.clock_values import Hours
from server.memory.temporal.date_values import (
    Part,
)
from server.memory.temporal.holidays import (
    FATHERS_DAY,
    MOTHERS_DAY,
    THANKSGIVING,
    OfYear,
    fixed,
    qingming,
)
from server.memory.temporal.spans import Granularity

DAYS: Final[Mapping[str, int]] = {
    "一": 0,
    "二": 1,
    "三": 2,
    "四": 3,
    "五": 4,
    "六": 5,
    "日": 6,
    "天": 6,
}

DAY_WORDS: Final[Mapping[str, int]] = {
    "今天": 0,
    "今日": 0,
    "明天": 1,
    "明日": 1,
    "后天": 2,
    "大后天": 3,
    "昨天": -1,
    "昨日": -1,
    "前天": -2,
    "大前天": -3,
}

NAMED_DAYPARTS: Final[Mapping[str, tuple[int, Hours]]] = {
    "今早": (0, hours.MORNING),
    "今晨": (0, hours.EARLY_MORNING),
    "今晚": (0, hours.NIGHT),
    "今夜": (0, hours.NIGHT),
    "明早": (1, hours.MORNING),
    "明晚": (1, hours.NIGHT),
    "昨晚": (-1, hours.NIGHT),
    "昨夜": (-1, hours.NIGHT),
    "前晚": (-2, hours.NIGHT),
}

DAYPARTS: Final[Mapping[str, Hours]] = {
    "凌晨": hours.DAWN,
    "清晨": hours.EARLY_MORNING,
    "一大早": hours.EARLY_MORNING,
    "早上": hours.MORNING,
    "早晨": hours.MORNING,
    "上午": hours.Hours(6, 12, 5, 13),
    "中午": hours.MIDDAY,
    "下午": hours.AFTERNOON,
    "午后": hours.AFTERNOON,
    "傍晚": hours.DUSK,
    "晚上": hours.NIGHT,
    "夜里": hours.NIGHT,
    "夜晚": hours.NIGHT,
    "深夜": hours.LATE_NIGHT,
    "半夜": hours.LATE_NIGHT,
}

SHIFTS: Final[Mapping[str, int]] = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
YEAR_WORDS: Final[Mapping[str, int]] = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "今年": 0,
    "明年": 1,
    "后年": 2,
    "大后年": 3,
}

SEASONS: Final = {
    "春": Season.SPRING,
    "夏": Season.SUMMER,
    "秋": Season.AUTUMN,
    "冬": Season.WINTER,
    "暑": Season.SUMMER,
    "寒": Season.WINTER,
}

SECTIONS: Final[Mapping[str, Section]] = {
    "上旬": Section.EARLY,
    "中旬": Section.MIDDLE,
    "下旬": Section.LATE,
    "初": Section.START,
    "中": Section.MIDDLE,
    "底": Section.END,
    "末": Section.END,
}

OWN_PARTS: Final = {
    "上旬": Part(Section.EARLY, Granularity.MONTH),
    "中旬": Part(Section.MIDDLE, Granularity.MONTH),
    "下旬": Part(Section.LATE, Granularity.MONTH),
    "月初": Part(Section.START, Granularity.MONTH),
    "月中": Part(Section.MIDDLE, Granularity.MONTH),
    "月底": Part(Section.END, Granularity.MONTH),
    "月末": Part(Section.END, Granularity.MONTH),
    "年初": Part(Section.START, Granularity.YEAR),
    "年中": Part(Section.MIDDLE, Granularity.YEAR),
    "年底": Part(Section.END, Granularity.YEAR),
    "年末": Part(Section.END, Granularity.YEAR),
}

HOLIDAYS: Final[Mapping[str, OfYear]] = {
    "元旦": fixed(1, 1),
    "情人节": fixed(2, 14),
    "妇女节": fixed(3, 8),
    "植树节": fixed(3, 12),
    "愚人节": fixed(4, 1),
    "清明节": qingming,
    "清明": qingming,
    "劳动节": fixed(5, 1),
    "五一": fixed(5, 1),
    "青年节": fixed(5, 4),
    "母亲节": MOTHERS_DAY,
    "儿童节": fixed(6, 1),
    "六一": fixed(6, 1),
    "父亲节": FATHERS_DAY,
    "建军节": fixed(8, 1),
    "教师节": fixed(9, 10),
    "国庆节": fixed(10, 1),
    "国庆假期": fixed(10, 1, 7),
    "国庆长假": fixed(10, 1, 7),
    "国庆": fixed(10, 1),
    "十一假期": fixed(10, 1, 7),
    "十一长假": fixed(10, 1, 7),
    "万圣节": fixed(10, 31),
    "双十一": fixed(11, 11),
    "双11": fixed(11, 11),
    "光棍节": fixed(11, 11),
    "感恩节": THANKSGIVING,
    "平安夜": fixed(12, 24),
    "圣诞节": fixed(12, 25),
    "圣诞": fixed(12, 25),
    "跨年夜": fixed(12, 31),
}
