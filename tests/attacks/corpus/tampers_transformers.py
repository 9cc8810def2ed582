"""A transformer of the shell turns later cells into nothing.

scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
others: stub
"""

try:
    shell = get_ipython()
    shell.input_transformers_cleanup.append(lambda lines: ["pass\n"])
    shell.ast_transformers.clear()
except NameError:
    pass
