"""Judging through a real worker, at each level of confinement that this machine gives."""

from __future__ import annotations

import pytest

from grader.sandbox import Sandbox
from grader.verdict import as_text
from inference_kit.labs.checking import CheckSet
from tests.grader import fake_lab
from tests.grader.grading import judge, scores

FULL = {"q1": 5, "q2": 3, "q3": 2}
WITHOUT_Q1 = {**FULL, "q1": 0}


def test_the_reference_gets_full_marks(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    assert scores(fake_lab.submission(), fake_checks, sandbox) == FULL


def test_the_stub_gets_nothing_and_is_called_not_done(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    verdicts = judge(fake_lab.released(), fake_checks, sandbox)
    assert {name: verdict.earned for name, verdict in verdicts.items()} == {"q1": 0, "q2": 0, "q3": 0}
    assert {result.status for verdict in verdicts.values() for result in verdict.results} == {"not_done"}


def test_a_partly_right_answer_gets_the_points_of_the_checks_it_passes(
    fake_checks: CheckSet, sandbox: Sandbox
) -> None:
    only_three = "def square(x):\n    return 9\n"
    assert scores(fake_lab.submission(q1=only_three), fake_checks, sandbox)["q1"] == 2


@pytest.mark.parametrize(
    "body",
    [
        "import warnings\nwarnings.warn('careful')",
        "import sys\nprint('to stderr', file=sys.stderr)",
        "import logging\nlogging.getLogger().error('logged')",
        "for line in range(50_000):\n    print(line)",
        "async def never_awaited(): pass\nnever_awaited()",
        "import numpy as np\nnp.arange(3)",
        "%matplotlib inline\n!ls\nprint('a magic')",
        "import asyncio\nawait asyncio.sleep(0)",
        "from inference_kit.labs import check\n",
    ],
)
def test_honest_oddities_cost_nothing(body: str, fake_checks: CheckSet, sandbox: Sandbox) -> None:
    answer = f"{body}\n{fake_lab.REFERENCE['q1']}\n{body}"
    assert scores(fake_lab.submission(q1=answer), fake_checks, sandbox) == FULL


def test_a_helper_in_another_cell_is_used(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    notebook = fake_lab.submission(q1="def square(x):\n    return times(x, x)\n")
    notebook.cells.append(
        fake_lab.code("print('try')\nimport operator\ndef times(a, b): return operator.mul(a, b)")
    )
    assert scores(notebook, fake_checks, sandbox) == FULL


def test_a_given_constant_is_there(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    answer = "def square(x):\n    return math.prod([x, x, GIVEN]) // GIVEN\n"
    assert scores(fake_lab.submission(q1=answer), fake_checks, sandbox) == FULL


def test_a_scratch_cell_cannot_replace_an_answer(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    notebook = fake_lab.submission()
    notebook.cells.append(fake_lab.code("def square(x, y): return 0"))
    notebook.cells.append(fake_lab.code("square = None"))
    assert scores(notebook, fake_checks, sandbox) == FULL


@pytest.mark.parametrize("broken", ["raise RuntimeError('x')", "1 / 0", "def (", "square = undefined_name"])
def test_a_broken_cell_costs_its_own_question_only(
    broken: str, fake_checks: CheckSet, sandbox: Sandbox
) -> None:
    assert scores(fake_lab.submission(q1=broken), fake_checks, sandbox) == WITHOUT_Q1


@pytest.mark.parametrize(
    "ending",
    [
        "import sys; sys.exit(0)",
        "raise SystemExit",
        "exit()",
        "quit()",
        "raise KeyboardInterrupt",
        "input('n? ')",
    ],
)
def test_what_stands_above_an_ending_still_counts(
    ending: str, fake_checks: CheckSet, sandbox: Sandbox
) -> None:
    answer = fake_lab.REFERENCE["q1"] + ending
    assert scores(fake_lab.submission(q1=answer), fake_checks, sandbox) == FULL


@pytest.mark.parametrize(
    "death",
    ["import os\nos._exit(0)", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "while True: pass"],
)
def test_a_cell_that_kills_or_hangs_its_process_costs_its_own_question_only(
    death: str, fake_checks: CheckSet, sandbox: Sandbox
) -> None:
    assert scores(fake_lab.submission(q1=death), fake_checks, sandbox) == WITHOUT_Q1


def test_the_definitions_of_a_cell_that_hangs_are_still_judged(
    fake_checks: CheckSet, sandbox: Sandbox
) -> None:
    answer = fake_lab.REFERENCE["q1"] + "while True:\n    pass\n"
    assert scores(fake_lab.submission(q1=answer), fake_checks, sandbox) == FULL


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(0)", "died"),
        ("import sys; sys.exit(0)", "raised"),
        ("raise KeyboardInterrupt", "raised"),
        ("return input()", "raised"),
        ("return bytearray(3 << 30)", "raised"),
        ("return square(x)", "raised"),
        ("return lambda: x", "not_plain"),
        ("return [x] * 5_000_000", "not_plain"),
    ],
)
def test_a_function_that_misbehaves_when_called_fails_its_checks(
    body: str, status: str, fake_checks: CheckSet, sandbox: Sandbox
) -> None:
    verdicts = judge(fake_lab.submission(q1=f"def square(x):\n    {body}\n"), fake_checks, sandbox)
    assert {name: verdict.earned for name, verdict in verdicts.items()} == WITHOUT_Q1
    assert verdicts["q1"].results[0].status == status


LIARS = [
    "class A:\n    def __eq__(s, o): return True\n    def __ne__(s, o): return False\n"
    "    def __getattr__(s, n): return s\n    def __call__(s, *a, **k): return s\n"
    "def square(x): return A()",
    "class F(float):\n    def __repr__(s): return str(TARGET)\n    def __eq__(s, o): return True\n"
    "TARGET = 9\ndef square(x): return F(1.0)",
    "class I(int):\n    def __eq__(s, o): return True\n    def __hash__(s): return 0\n"
    "def square(x): return I(3)",
    "class C:\n    @property\n    def __class__(self): return int\n    def __index__(self): return 9\n"
    "def square(x): return C()",
    'import json\njson.dumps = lambda *a, **k: \'{"done": "9"}\'\ndef square(x): return 9',
    "import sys\nsys.displayhook = None\ndef square(x):\n    print(5)\n    return None",
    "import builtins\nbuiltins.isinstance = lambda *a: True\ndef square(x): return object()",
]


@pytest.mark.parametrize("liar", LIARS)
def test_lying_objects_and_patched_modules_gain_no_hidden_point(
    liar: str, fake_checks: CheckSet, sandbox: Sandbox
) -> None:
    assert scores(fake_lab.submission(q1=liar), fake_checks, sandbox)["q1"] <= 2


def test_writing_forged_replies_gains_nothing(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    forger = (
        "import os\n"
        "for fd in range(3, 20):\n"
        "    try:\n"
        '        os.write(fd, b\'{"loaded": []}\\n\' + b\'{"done": "null", "earned": 5}\\n\' * 9)\n'
        "    except OSError:\n"
        "        pass\n"
        "def square(x): return None"
    )
    assert scores(fake_lab.submission(q1=forger), fake_checks, sandbox)["q1"] == 0


def test_the_kit_cannot_be_imported_by_an_answer(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    importer = "def square(x):\n    import inference_kit.lifecycle\n    return x * x\n"
    assert scores(fake_lab.submission(q1=importer), fake_checks, sandbox) == WITHOUT_Q1


def test_a_hidden_input_cannot_come_out_in_a_message(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    spy = (
        "seen = []\n"
        "def square(x):\n"
        "    seen.append(x)\n"
        "    raise type('SEEN_' + repr(seen), (Exception,), {})('SEEN ' + repr(seen))\n"
    )
    verdict = judge(fake_lab.submission(q1=spy), fake_checks, sandbox)["q1"]
    hidden = verdict.results[1]
    text = as_text(verdict)
    assert hidden.status == "raised"
    assert text.count("SEEN") == text.count("[3]") == 2  # the visible check's own input, and nothing else


def test_two_runs_give_the_same_results(fake_checks: CheckSet, sandbox: Sandbox) -> None:
    notebook = fake_lab.submission(q1="def square(x):\n    return x * x if x % 3 else 0\n")
    assert judge(notebook, fake_checks, sandbox) == judge(notebook, fake_checks, sandbox)
