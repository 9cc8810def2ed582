# %% success over those with a first token
# fails: success_is_over_all_that_ended
# fault: Who never got a token is left out of the success rate.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / ttft_samples if ttft_samples else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% no success is None
# fails: success_is_over_all_that_ended
# fault: A rate of 0 is turned into None by `or`.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=(counts["completed"] / len(rows) if rows else None) or None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% cancels are not requests
# fails: success_is_over_all_that_ended
# fault: Client cancels are left out of the total.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows) - counts["cancelled"],
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / (len(rows) - counts["cancelled"])
        if len(rows) > counts["cancelled"]
        else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% TTFT of the completed only
# fails: ttft_is_over_those_with_a_first_token
# fault: A first token that was followed by a cancel does not count.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows if row["status"] == "completed"])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% TTFT over all
# fails: ttft_is_over_those_with_a_first_token, empty_denominators_give_none
# fault: A missing TTFT counts as 0.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] or 0.0 for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% the count of TTFT is the total
# fails: ttft_is_over_those_with_a_first_token, empty_denominators_give_none
# fault: The mean is right, and its sample count is that of all rows.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=len(rows),
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% TTFT of those with a TPOT
# fails: ttft_is_over_those_with_a_first_token
# fault: One denominator is used for both figures.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows if row["tpot"] is not None])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% TPOT of one token is 0
# fails: tpot_is_over_those_with_two_tokens
# fault: A one-token answer counts as a sample of 0.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([0.0 if row["streamed_tokens"] == 1 else row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% TPOT weighted by tokens
# fails: tpot_is_over_those_with_two_tokens, summary_of_any_completed
# fault: Long answers weigh more.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    weights = sum(row["streamed_tokens"] for row in rows if row["tpot"] is not None)
    weighted = sum(row["tpot"] * row["streamed_tokens"] for row in rows if row["tpot"] is not None)
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=weighted / weights if weights and tpot_samples else None,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% completed ones are not counted by name
# fails: ends_are_counted_by_name, summary_of_any_completed
# fault: by_status lists only what went wrong.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status={name: count for name, count in counts.items() if name != "completed"},
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% all that went wrong is failed
# fails: ends_are_counted_by_name
# fault: Cancels, timeouts and failures are one number.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(Counter("completed" if row["status"] == "completed" else "failed" for row in rows)),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% throughput of the completed
# fails: throughput_is_per_second_of_the_window
# fault: Only completed requests are divided by the window.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else counts["completed"] / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% no window is one second
# fails: throughput_is_per_second_of_the_window
# fault: Without a window the number of requests is given.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=len(rows) / (window_s or 1.0),
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% no rows, no throughput
# fails: throughput_is_per_second_of_the_window
# fault: An empty window has a throughput of 0 and not None.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=len(rows) / window_s if rows and window_s else None,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% only timeouts are abnormal
# fails: abnormal_ends_are_listed
# fault: A cancel is thought to be the client's own business.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] not in ("completed", "cancelled")
        ],
    )


# %% tokens already sent are lost
# fails: abnormal_ends_are_listed
# fault: The list shows 0 tokens for everything that did not complete.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": 0}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% an empty mean is 0
# fails: empty_denominators_give_none
# fault: Without a sample the means are 0.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft or 0.0,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot or 0.0,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% no rows, success 0
# fails: empty_denominators_give_none
# fault: A rate of nothing is written as 0.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / max(len(rows), 1),
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% divides by no rows
# fails: empty_denominators_give_none, throughput_is_per_second_of_the_window
# fault: The empty set is forgotten.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows),
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% any window
# fails: the_window_is_above_zero
# fault: A window of 0 s gives a ZeroDivisionError, and -1 s a negative rate.
def summarize(rows, window_s=None):
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% 0 s is no window
# fails: the_window_is_above_zero
# fault: A window of 0 s is taken for no window.
def summarize(rows, window_s=None):
    if window_s:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=len(rows) / window_s if window_s else None,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% a value of 0 is no sample
# fails: summary_of_any_completed
# fault: `if row["ttft"]` is false for 0.0 too.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows if row["ttft"]])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows if row["tpot"]])
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% the median
# fails: summary_of_any_completed
# fault: The middle value is reported as the mean.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    counts = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    ordered = sorted(row["ttft"] for row in rows if row["ttft"] is not None)
    return Record(
        total_requests=len(rows),
        completed_requests=counts["completed"],
        success_rate=counts["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=ordered[len(ordered) // 2] if ordered else None,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(counts),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


# %% every state has a count
# fails: ends_are_counted_by_name, summary_of_any_completed
# fault: by_status lists states that never came, with 0.
def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    statuses = [row["status"] for row in rows]
    ttft, ttft_count = mean([row["ttft"] for row in rows])
    tpot, tpot_count = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=statuses.count("completed"),
        success_rate=statuses.count("completed") / len(rows) if rows else None,
        ttft_sample_count=ttft_count,
        mean_ttft=ttft,
        tpot_sample_count=tpot_count,
        mean_tpot=tpot,
        by_status={s: statuses.count(s) for s in ("completed", "cancelled", "timed_out", "failed")},
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )
