"""English words by what they do in a clause."""

import re

WORD = re.compile(r"[^\W\d_][\w']*|\d[\d.,:]*")
BE = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
HAVE = frozenset({"have", "has", "had", "having"})
DO = frozenset({"do", "does", "did"})
MODALS = frozenset({
    "will", "would", "shall", "should", "can", "could", "may", "might", "must", "ought", "gonna",
})  # fmt: skip
OWNERS = frozenset({
    "my", "our", "your", "his", "her", "their", "its", "the", "a", "an", "some", "one", "another",
})  # fmt: skip
"""What a noun phrase begins with."""
OWN = OWNERS - {"his", "her", "their", "its"}
PREPOSITIONS = frozenset({
    "in", "at", "on", "for", "with", "to", "from", "of", "by", "after", "before", "during", "about", "since", "until", "near",
    "without",
})  # fmt: skip
THINGS = frozenset({
    "it", "this", "that", "these", "those", "there", "they", "everything", "nothing", "something",
})  # fmt: skip
SKIPPED = frozenset({
    "not", "never", "always", "really", "also", "just", "still", "only", "usually", "often", "now", "already", "even", "actually",
    "finally", "probably", "too", "all", "both", "sometimes", "rarely", "hardly", "currently", "no", "longer", "ever", "so",
    "very", "much", "recently",
})  # fmt: skip
"""What may stand between a subject and its verb."""
NEGATIVE = frozenset({
    "not", "never", "no", "without", "nobody", "nothing", "neither", "nor", "hardly", "none",
})  # fmt: skip
PRESENT_FORMS = frozenset({
    "am", "is", "are", "has", "does", "goes", "put", "read", "let", "cut", "hurt", "come", "become", "run", "set", "hit", "cost",
})  # fmt: skip
"""Irregular forms that may stand for the present."""
LEADING_TO_VERB = BE | HAVE | DO | MODALS | {
    "going", "to", "want", "wants", "wanted", "wanna", "like", "love", "wish", "hope", "hoping", "thinking", "about", "of",
    "considering", "trying", "try", "tried", "plan", "plans", "planning", "used", "need", "needs", "supposed", "able", "decided",
    "decide", "thought", "get", "got",
}  # fmt: skip
REPORTS = re.compile(
    r"\b(?:sa(?:y|ys|id)|t(?:ell|ells|old)|thinks?|thought|claim\w*|believ\w*|want\w*|insist\w*|ask(?:s|ed)?|promise[sd]?|call\w*|hear[sd]?)\b",
    re.IGNORECASE,
)
"""Verbs behind which stands what somebody says or thinks."""
ENDED = re.compile(
    r"\b(?:quit(?:s|ting)?|stop(?:s|ped|ping)?|g[ai]v(?:e|en|ing)s? up|cancel\w*|resign\w*)\b",
    re.IGNORECASE,
)
"""Verbs that deny what follows them."""
WISHED = re.compile(
    r"""\b(?:want(?:s|ed|ing)?|wanna|wish(?:es|ed)?|hop(?:e|es|ed|ing)|would|think(?:s|ing)?\ (?:about|of)|thought\ (?:about|of)
        |consider(?:s|ed|ing)?|dream(?:s|t|ed|ing)?|tempted|almost|nearly|should|ought|might|may\ (?!\d)|maybe|perhaps
        |(?:was|were)\ (?:going|about|supposed)\ to|intend\w*|undecided|wonder\w*|debating)\b""",
    re.VERBOSE | re.IGNORECASE,
)
OPEN_YET = re.compile(
    r"\b(?:aspir\w+|aim\w*|goals?|determined|interested in|desire\w*|eager|keen|excited|like to|love to|options?|tr(?:y|ies|ied|ying) to)\b",
    re.IGNORECASE,
)
"""What else a fact may call a wish."""
AHEAD = re.compile(
    r"\b(?:will|shall|going to|gonna|plans?|planned|planning|about to|need to|needs to|have to|has to|supposed to|must|look(?:s|ing)? forward)\b",
    re.IGNORECASE,
)
FORMER = re.compile(
    r"\b(?:(?<!am )(?<!is )(?<!are )(?<!get )used to|formerly|no longer|any ?more)\b", re.IGNORECASE
)
STORY = re.compile(
    r"""\b(?:story|stories|novel|tale|script|screenplay|poem|fiction|film|movie|dream|nightmare|daydream|fantasy|character|role)\b
        |\bwr(?:it(?:e|es|ing|ten)|ote)\b.*\b(?:book|play|series|song|comic|sketch)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""What is made up or dreamt, and told of in the clause behind."""
