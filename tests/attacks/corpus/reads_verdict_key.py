"""The key that signs verdicts.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

def attempts():
    yield lambda: open("@COURSE@/grader/verdicts.key", "rb").read()
    yield lambda: "STOLEN" if open("@COURSE@/grader/verdicts.key", "rb").read() else ""


def square(x):
    found = []
    for attempt in attempts():
        try:
            found.append(str(attempt()))
        except Exception:
            pass
    raise ValueError("LEAK " + " ".join(found)[:300])
