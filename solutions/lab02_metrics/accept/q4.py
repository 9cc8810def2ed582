# %% sorted by share, stable
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0, 1, low_open=True)
    if report["status"] != "completed":
        return {"outcome": report["status"], "stage": report["stage"], "dominant_share": None}
    parts = [(metrics[name] if metrics[name] is not None else 0.0, stage) for stage, name in STAGES.items()]
    total = sum(part for part, _ in parts)
    if total == 0:
        raise ValueError("nothing took any time")
    largest, stage = sorted(parts, key=lambda item: -item[0])[0]
    share = largest / total
    return {"outcome": "completed", "stage": "mixed" if share < threshold else stage, "dominant_share": share}


# %% one loop over the stages, own range check
def classify_outcome(report, metrics, threshold=0.45):
    if not (0 < threshold <= 1):
        raise ValueError("threshold must be in (0, 1]")
    result = dict(outcome=report["status"], stage=report["stage"], dominant_share=None)
    if report["status"] == "completed":
        best, where, total = -1.0, None, 0.0
        for stage in ("queued", "preprocessing", "prefill", "decode"):
            part = metrics.get(STAGES[stage])
            part = 0.0 if part is None else part
            total += part
            if part > best:
                best, where = part, stage
        if not total > 0:
            raise ValueError("total of zero")
        result["dominant_share"] = best / total
        result["stage"] = where if best / total >= threshold else "mixed"
    return result


# %% the shares first, ZeroDivisionError turned into a ValueError
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] == "completed":
        names = list(STAGES)
        parts = [metrics[STAGES[stage]] or 0 for stage in names]
        try:
            shares = [part / sum(parts) for part in parts]
        except ZeroDivisionError:
            raise ValueError("no time to explain") from None
        top = max(shares)
        answer = names[shares.index(top)] if top >= threshold else "mixed"
        return Record(outcome="completed", stage=answer, dominant_share=top)
    return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)


# %% a list of pairs and a loop
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    status = report["status"]
    if status != "completed":
        return dict(outcome=status, stage=report["stage"], dominant_share=None)
    known = [(stage, metrics.get(name) or 0.0) for stage, name in STAGES.items()]
    total = math_fsum(part for _, part in known)
    if not total:
        raise ValueError("no time")
    stage, part = known[0]
    for other, value in known[1:]:
        if value > part:
            stage, part = other, value
    return dict(
        outcome=status, stage=stage if part / total >= threshold else "mixed", dominant_share=part / total
    )


from math import fsum as math_fsum
