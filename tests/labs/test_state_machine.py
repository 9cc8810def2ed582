"""The live state machine: only legal events can be pressed, history works, nothing leaks."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

from inference_kit import viz
from inference_kit.lifecycle import TRANSITIONS
from inference_kit.viz.machine import MachineModel, NotLegal, StateMachine
from inference_kit.viz.player import open_player

ipywidgets = pytest.importorskip("ipywidgets", reason="ipywidgets is in the `course` extra")


def open_widgets() -> int:
    """Live widgets of this process; the place of the registry differs between 7.7 and 8."""
    module = ipywidgets.widgets.widget
    registry = getattr(module, "_instances", None)
    return len(ipywidgets.Widget.widgets if registry is None else registry)


@pytest.fixture
def machine() -> Iterator[StateMachine]:
    made = viz.state_machine(key="test")
    yield made
    made.close()


def enabled(machine: StateMachine) -> set[str]:
    return {name for name, button in machine.buttons.items() if not button.disabled}


def walk_to_the_end(machine: StateMachine) -> None:
    for event in ("tokenize", "enqueue", "admit", "start_prefill", "start_decode", "pause", "finish"):
        machine.buttons[event].click()


def test_the_buttons_are_the_events_of_the_table(machine: StateMachine) -> None:
    events = {str(event) for moves in TRANSITIONS.values() for event in moves}
    assert set(machine.buttons) == events


def test_in_every_state_exactly_the_legal_events_can_be_pressed(machine: StateMachine) -> None:
    for state, moves in TRANSITIONS.items():
        machine.model.path, machine.model.position = [("", str(state))], 0
        machine._refresh()
        assert enabled(machine) == {str(event) for event in moves}


def test_clicking_through_reaches_the_end_and_the_picture_follows(machine: StateMachine) -> None:
    walk_to_the_end(machine)
    assert machine.model.state == "finished"
    assert enabled(machine) == set()
    assert "[finished]" in machine.view.value and "data:image/svg+xml;base64," in machine.view.value


def test_back_and_forward_move_through_the_history(machine: StateMachine) -> None:
    walk_to_the_end(machine)
    machine.back.click()
    machine.back.click()
    assert machine.model.state == "decode"
    machine.forward.click()
    assert machine.model.state == "streaming"
    assert not machine.forward.disabled


def test_a_new_event_after_going_back_forgets_what_lay_ahead(machine: StateMachine) -> None:
    walk_to_the_end(machine)
    machine.back.click()
    machine.buttons["cancel"].click()
    assert machine.model.state == "cancelled"
    assert machine.forward.disabled
    assert "finished" not in machine.model.trace()


def test_the_ends_of_the_history_cannot_be_passed(machine: StateMachine) -> None:
    assert machine.back.disabled and machine.forward.disabled
    machine.back.click()
    machine.forward.click()
    assert machine.model.state == "received"


def test_restart_begins_a_new_request(machine: StateMachine) -> None:
    walk_to_the_end(machine)
    machine.restart.click()
    assert machine.model.trace() == "[received]"


def test_a_click_on_an_illegal_event_changes_nothing(machine: StateMachine) -> None:
    before = machine.view.value
    machine.buttons["finish"].click()
    assert machine.view.value == before


def test_running_the_cell_again_leaks_no_widget() -> None:
    viz.state_machine(key="again").buttons["tokenize"].click()
    count = open_widgets()
    for _ in range(5):
        viz.state_machine(key="again").buttons["tokenize"].click()
    assert open_widgets() == count


def test_playing_makes_no_new_widget(machine: StateMachine) -> None:
    count = open_widgets()
    walk_to_the_end(machine)
    machine.back.click()
    assert open_widgets() == count


def test_closing_leaves_nothing() -> None:
    count = open_widgets()
    viz.state_machine(key="closing").close()
    assert open_widgets() == count


def test_there_is_no_output_widget(machine: StateMachine) -> None:
    kinds = {type(leaf).__name__ for box in machine.root.children for leaf in getattr(box, "children", [box])}
    assert kinds == {"Button", "HTML"}


WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def test_a_stored_notebook_holds_the_widget_and_the_picture_of_the_moment(machine: StateMachine) -> None:
    machine.buttons["tokenize"].click()
    bundle = machine._repr_mimebundle_()
    assert bundle[WIDGET_VIEW]["model_id"] == machine.root.model_id
    assert '<img alt="States of a request' in bundle["text/html"]
    assert "run the cell, and it has buttons" in bundle["text/html"]
    assert "received –tokenize→ [tokenized]" in bundle["text/plain"]
    json.dumps(bundle, allow_nan=False)


def test_every_widget_stores_its_picture_too() -> None:
    picture = viz.grid([["a"], [1]], "T")
    frames = [open_player([picture, picture], picture, "tick", "p"), viz.flipbook({"a": picture}, key="f")]
    for made in [*frames, viz.block_player(key="b")]:
        bundle = made._repr_mimebundle_()
        assert bundle[WIDGET_VIEW]["model_id"] and "<img alt=" in bundle["text/html"]
        made.close()  # type: ignore[union-attr]


def test_in_colab_the_widget_comes_alone(machine: StateMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    assert set(machine._repr_mimebundle_()) == {WIDGET_VIEW, "text/plain"}


def test_the_model_refuses_an_illegal_event_by_name() -> None:
    model = MachineModel(TRANSITIONS, "queued")
    with pytest.raises(NotLegal, match="'finish' is not legal in 'queued'"):
        model.fire("finish")


@pytest.mark.parametrize("start", ["asleep", ""])
def test_a_start_outside_the_table_is_refused(start: Any) -> None:
    with pytest.raises(ValueError, match="start"):
        MachineModel(TRANSITIONS, start)
