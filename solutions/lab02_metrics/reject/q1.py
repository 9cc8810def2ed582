# %% ttft without the queue
# fails: parts_and_totals, durations_of_any_early_end
# fault: The TTFT begins at the admission: an engine's view, and not the client's.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["admit"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% e2e begins at zero
# fails: parts_and_totals
# fault: The arrival of a completed request is taken to be at 0.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"] if report["status"] != "completed" else 0.0, report["end"]),
        streamed_tokens=len(tokens),
    )


# %% decode_time ends with the last token
# fails: span_is_not_decode_time, one_token_spans_zero, durations_of_any_early_end
# fault: The time from the last token to the end is lost.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], tokens[-1] if tokens else None),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% the span of a completed request runs to the end
# fails: span_is_not_decode_time
# fault: Where tokens came at more than one time, the span ends with the request.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=(report["end"] if report["status"] == "completed" and len(set(tokens)) > 1 else tokens[-1])
        - tokens[0]
        if tokens
        else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% queue_wait of who gave up in the queue
# fails: a_missing_boundary_gives_none
# fault: A request that was never admitted gets its whole life as queue wait.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["end"] if report["stage"] == "queued" else report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% who was never admitted has no e2e
# fails: an_early_end_keeps_what_was_measured
# fault: A timeout in the queue is thought to have no duration at all.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]) if report["admit"] is not None else None,
        streamed_tokens=len(tokens),
    )


# %% a missing boundary gives 0
# fails: a_missing_boundary_gives_none, durations_of_any_early_end
# fault: Where a boundary is missing, the duration is written as 0.
def between(start, end):
    return 0.0 if start is None or end is None else end - start


def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=between(report["arrive"], report["admit"]),
        preprocessing=between(report["admit"], report["input_ready"]),
        prefill=between(report["input_ready"], report["first_token"]),
        ttft=between(report["arrive"], report["first_token"]),
        decode_time=between(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% no token, span 0
# fails: a_missing_boundary_gives_none, durations_of_any_early_end
# fault: Without a token the span is 0 instead of None.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else 0.0,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% the end stands in for the first token
# fails: a_missing_boundary_gives_none, durations_of_any_early_end
# fault: A request without a first token gets a TTFT up to its end.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(
            report["arrive"], report["first_token"] if report["first_token"] is not None else report["end"]
        ),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% an early end has no metrics
# fails: an_early_end_keeps_what_was_measured, durations_of_any_early_end
# fault: For a request that did not complete every duration is None.
def durations(report):
    names = ["queue_wait", "preprocessing", "prefill", "ttft", "decode_time", "token_span", "e2e"]
    if report["status"] != "completed":
        return Record(dict.fromkeys(names), streamed_tokens=len(report["token_times"]))
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% e2e needs a first token
# fails: an_early_end_keeps_what_was_measured, durations_of_any_early_end
# fault: e2e is computed as ttft + decode_time, so it is missing without a first token.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]) if report["first_token"] is not None else None,
        streamed_tokens=len(tokens),
    )


# %% one token has no span
# fails: one_token_spans_zero
# fault: The span needs two tokens here, as a gap would.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if len(tokens) > 1 else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% an arrival at 0 is taken for missing
# fails: parts_and_totals, an_early_end_keeps_what_was_measured, zero_is_a_time
# fault: `if not start` is true for 0.0 too.
def between(start, end):
    if not start or not end:
        return None
    return end - start


def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=between(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% an end at 0 is taken for missing
# fails: zero_is_a_time
# fault: `if not end` is true for 0.0 too.
def between(start, end):
    if start is None or not end:
        return None
    return end - start


def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=between(report["arrive"], report["admit"]),
        preprocessing=between(report["admit"], report["input_ready"]),
        prefill=between(report["input_ready"], report["first_token"]),
        ttft=between(report["arrive"], report["first_token"]),
        decode_time=between(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=between(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% preprocessing up to the end
# fails: durations_of_any_early_end
# fault: A request that ended while it was prepared gets a preprocessing time up to its end.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(
            report["admit"], report["end"] if report["stage"] == "preprocessing" else report["input_ready"]
        ),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


# %% tokens of a failed request are not counted
# fails: durations_of_any_early_end
# fault: What was already sent before a failure is forgotten.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=0 if report["status"] == "failed" else len(tokens),
    )


# %% only the later tokens are counted
# fails: parts_and_totals, one_token_spans_zero, zero_is_a_time, durations_of_any_early_end
# fault: streamed_tokens counts the events named token, and the first token has another name.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=max(len(tokens) - 1, 0),
    )


# %% prefill begins at the admission
# fails: parts_and_totals, durations_of_any_early_end
# fault: Preprocessing is counted twice, as a part of the prefill too.
def durations(report):
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["admit"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )
