"""Reads traditional Chinese characters as the simplified ones that rules are written in: those that people speak of their health with."""

from typing import Final

_TRADITIONAL: Final = (
    "頭暈悶氣臟發燒熱腫脹軟癢腳頸嚨齒節蓋臉絆滾樓來斷傷惡噁嘔著覺夢飯藥記沒過錯醫護針島殺盡劃罵鎖關負錢搶騙獨單淚絕潰贅擔驚難"
    "勁說話聽見東麼這個們媽爺兒孫婦學師裡裏邊從會讓給還後時間幾點兩歲為問題雙渾樣現開車門體溫壓脈脅腸腦膿濕瘡動彎該脫褲兇衝誰"
    "愛討厭煩夠輩義勞攙廁輕飄轉亂齊虛換認識塗聲響壞離結終電視書劇戲貓鄰滯僅嗎吳張劉陳楊趙黃鄭韓馮歡總辦嚴厲潑裝睏癱瘋腎膽顫撐擠撲蹌滅樹無願寫買賣親戀憂鬱閉綁繩內長當請應經檢強姦靜對與將試準確"
)
_SIMPLIFIED: Final = (
    "头晕闷气脏发烧热肿胀软痒脚颈咙齿节盖脸绊滚楼来断伤恶恶呕着觉梦饭药记没过错医护针岛杀尽划骂锁关负钱抢骗独单泪绝溃赘担惊难"
    "劲说话听见东么这个们妈爷儿孙妇学师里里边从会让给还后时间几点两岁为问题双浑样现开车门体温压脉胁肠脑脓湿疮动弯该脱裤凶冲谁"
    "爱讨厌烦够辈义劳搀厕轻飘转乱齐虚换认识涂声响坏离结终电视书剧戏猫邻滞仅吗吴张刘陈杨赵黄郑韩冯欢总办严厉泼装困瘫疯肾胆颤撑挤扑跄灭树无愿写买卖亲恋忧郁闭绑绳内长当请应经检强奸静对与将试准确"
)
_TABLE: Final = str.maketrans(_TRADITIONAL, _SIMPLIFIED)


def simplified(text: str) -> str:
    """Return a text of the same length in simplified characters."""
    return text.translate(_TABLE)
