# %% not simplified
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return ((num_tokens - 1) * gap_s + tail_s) / num_tokens - gap_s


# %% two shares
def service_tpot_excess(num_tokens, gap_s, tail_s):
    return None if gap_s is None else tail_s / num_tokens - gap_s / num_tokens


# %% builds a trace and measures it
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if num_tokens < 2 or gap_s is None:
        return None
    times = [number * gap_s for number in range(num_tokens)]
    finish = times[-1] + tail_s
    return finish / num_tokens - times[-1] / (num_tokens - 1)


# %% with a weight
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if isinstance(gap_s, (int, float)):
        weight = 1 / num_tokens
        return weight * (tail_s - gap_s)


# %% fractions
from fractions import Fraction


def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None or num_tokens < 2:
        return None
    return float((Fraction(tail_s) - Fraction(gap_s)) / num_tokens)
