# %% the smallest part
# fails: the_largest_share_explains, below_the_threshold_it_is_mixed, the_threshold_is_met_at_equality, ties_go_to_the_earlier_stage, an_unknown_part_explains_nothing, outcome_of_any_completed
# fault: min instead of max.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = min(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% preprocessing is never named
# fails: the_largest_share_explains
# fault: The stage is looked for among queue, prefill and decode only.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max((name for name in parts if name != "preprocessing"), key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% never mixed
# fails: below_the_threshold_it_is_mixed, the_threshold_is_met_at_equality, outcome_of_any_completed
# fault: Always names one culprit.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage, dominant_share=share)


# %% the default is one half
# fails: below_the_threshold_it_is_mixed
# fault: The default of the threshold is 0.5.
def classify_outcome(report, metrics, threshold=0.5):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% the default is 0.4
# fails: below_the_threshold_it_is_mixed
# fault: The default of the threshold is 0.4.
def classify_outcome(report, metrics, threshold=0.4):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% mixed has no share
# fails: below_the_threshold_it_is_mixed, the_threshold_is_met_at_equality, outcome_of_any_completed
# fault: Where it is mixed, the largest share is thrown away.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    if share < threshold:
        return Record(outcome="completed", stage="mixed", dominant_share=None)
    return Record(outcome="completed", stage=stage, dominant_share=share)


# %% equality is not enough
# fails: the_threshold_is_met_at_equality
# fault: > instead of >=.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share > threshold else "mixed", dominant_share=share)


# %% the given threshold is ignored
# fails: the_threshold_is_met_at_equality, outcome_of_any_completed
# fault: 0.45 stands in the code.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= 0.45 else "mixed", dominant_share=share)


# %% ties go to the later stage
# fails: ties_go_to_the_earlier_stage
# fault: The last of several equal shares is named.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(reversed(list(parts)), key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% ties are mixed
# fails: ties_go_to_the_earlier_stage
# fault: Two equal shares are called mixed.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    tie = list(parts.values()).count(parts[stage]) > 1
    return Record(
        outcome="completed", stage="mixed" if tie or share < threshold else stage, dominant_share=share
    )


# %% an early end gets a share
# fails: an_early_end_has_no_share
# fault: The share of what was measured is given for a request that did not complete.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        known = [metrics[name] or 0.0 for name in STAGES.values()]
        share = max(known) / (sum(known) or 1.0)
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=share)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% an early end is mixed
# fails: an_early_end_has_no_share
# fault: The stage where the end came is lost.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage="mixed", dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% every early end is a failure
# fails: an_early_end_has_no_share
# fault: The status of the end is written as failed.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome="failed", stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% an unknown part stops it
# fails: an_unknown_part_explains_nothing
# fault: None is not allowed for, so the sum fails.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% an unknown part makes it mixed
# fails: an_unknown_part_explains_nothing
# fault: When a part is missing, no stage is named.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    if None in [metrics[name] for name in STAGES.values()]:
        stage = "mixed"
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% no range
# fails: the_threshold_has_a_range
# fault: Any threshold is taken.
def classify_outcome(report, metrics, threshold=0.45):
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% zero is a threshold
# fails: the_threshold_has_a_range
# fault: The lower end is allowed.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% the range is looked at too late
# fails: the_threshold_has_a_range
# fault: A wrong threshold passes when the request did not complete.
def classify_outcome(report, metrics, threshold=0.45):
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% divides by a total of zero
# fails: nothing_to_explain
# fault: ZeroDivisionError is no ValueError.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% no time is mixed
# fails: nothing_to_explain
# fault: A request without any time is called mixed.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        return Record(outcome="completed", stage="mixed", dominant_share=0.0)
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% all metrics are parts
# fails: outcome_of_any_completed
# fault: The sum takes every number of the metrics: totals and spans count twice.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(value for value in metrics.values() if isinstance(value, float))
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% the share is of e2e
# fails: outcome_of_any_completed
# fault: Divides by a total that the metrics may hold, before the largest part is taken off.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / metrics.get("ttft", total)
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% the share of the time to the first token
# fails: the_largest_share_explains, below_the_threshold_it_is_mixed, the_threshold_is_met_at_equality, ties_go_to_the_earlier_stage, an_unknown_part_explains_nothing, outcome_of_any_completed
# fault: decode is left out of the sum, so the shares of the others are too large.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values()) - parts["decode"] or parts["decode"]
    if total <= 0:
        raise ValueError("no time")
    stage = max(parts, key=parts.get)
    share = min(parts[stage] / total, 1.0)
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


# %% the stage is the name of the metric
# fails: the_largest_share_explains, ties_go_to_the_earlier_stage, an_unknown_part_explains_nothing, outcome_of_any_completed
# fault: Answers queue_wait and decode_time instead of queued and decode.
def classify_outcome(report, metrics, threshold=0.45):
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {name: metrics[name] or 0.0 for name in STAGES.values()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time")
    stage = max(parts, key=parts.get)
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)
