"""The section of the configuration about danger signs in what people say."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from server.config_section import Section
from server.config_values import SecretPath, ServiceUrl, Token

SignalName = Literal["symptom", "fall", "self-harm", "abuse", "medication", "distress"]
SeverityName = Literal["watch", "concern", "urgent"]
Line = Annotated[str, Field(min_length=1, max_length=400)]


class WebhookSection(Section):
    """A service that is told of events."""

    url: Annotated[ServiceUrl, Field(min_length=1), SecretPath()]
    kinds: tuple[SignalName, ...] = ()
    persons: tuple[str, ...] = ()
    min_severity: SeverityName = "concern"
    secret: Token = SecretStr("")


class EscalationSection(Section):
    """What the robot says at once to an urgent sign, by language. No line names a number: nobody knows where it stands."""

    ja: Line = "それは心配です。ひとりでいないでください。すぐに近くの人を呼ぶか、助けを求める電話をしてください。"
    en: Line = "I am worried about you. Please don't stay alone with this. Call somebody near you, or phone for help, right now."
    zh: Line = "我很担心你，请不要一个人扛着。请马上叫身边的人过来，或者打电话求助。"


class SafetySection(Section):
    """Danger signs: whether they are looked for, what is said to urgent ones, and who is told."""

    enabled: bool = True
    escalation: EscalationSection = EscalationSection()
    concern_line: Literal["auto", "always", "never"] = "auto"
    contact: Annotated[str, Field(max_length=80)] = ""
    webhooks: dict[str, WebhookSection] = Field(default_factory=dict)
