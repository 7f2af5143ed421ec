# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: long work in slices, with progress, that can be cancelled at any step and ends well or with a sentence."""

import bpy
import pytest

from mm_blender.errors import Cancelled, MotionError
from mm_blender.scene.jobs import slices
from mm_blender.steps import Progress


@pytest.fixture(autouse=True)
def one_step_in_each_slice(extension, monkeypatch):
    clock = iter(range(10 ** 9))
    monkeypatch.setattr(slices.time, "perf_counter", lambda: next(clock) * 0.6 * slices.SLICE[0])
    yield
    slices.cancel()


class Work:
    """Steps that note what happens to them."""

    def __init__(self, count=3, error=None):
        self.done, self.closed, self.result = 0, False, None
        self.steps = self._steps(count, error)

    def _steps(self, count, error):
        try:
            for index in range(count):
                yield Progress(index / count, f"step {index}")
                self.done += 1
            if error:
                raise error
            return "made"
        finally:
            self.closed = True

    def start(self, title="Working"):
        slices.start(self.steps, title, lambda result: setattr(self, "result", result))
        return self


def finish():
    count = 0
    while slices.tick() is not None:
        count += 1
    return count


def test_a_job_shows_its_progress_and_hands_over_its_result():
    work = Work().start()
    seen = []
    while slices.tick() is not None:
        seen.append((slices.current().share, slices.current().text))
    assert seen == [(0, "step 0"), (1 / 3, "step 1"), (2 / 3, "step 2")]
    assert work.result == "made" and slices.current() is None and slices.last_error() == ""


def test_the_work_is_done_by_a_timer_until_it_is_over():
    Work().start()
    assert bpy.app.timers.is_registered(slices.tick)
    assert slices.tick() == slices.REST and finish() == 2 and slices.tick() is None


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_it_can_be_cancelled_after_any_step(steps):
    work = Work().start()
    for _ in range(steps):
        slices.tick()
    slices.cancel()
    assert slices.current() is None and work.result is None and slices.last_error() == ""
    assert work.closed or steps == 0  # a generator that has not begun has nothing to close
    assert finish() == 0 and work.done == max(0, steps - 1)


def test_a_reason_for_cancelling_is_told():
    Work().start()
    slices.cancel("The file was closed.")
    assert slices.last_error() == "The file was closed."


def test_why_it_failed_is_not_told_in_another_file():
    Work().start()
    slices.cancel("The file was closed.")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert slices.last_error() == ""


def test_a_job_that_stops_itself_ends_without_a_sentence():
    work = Work(error=Cancelled()).start()
    finish()
    assert slices.current() is None and slices.last_error() == "" and work.result is None


def test_what_is_wrong_with_the_input_is_told_under_its_title_until_the_next_job():
    Work(error=MotionError("The bone is missing.")).start("Baking")
    finish()
    assert slices.current() is None
    assert slices.last_error() == slices.last_error("Baking") == "The bone is missing."
    assert slices.last_error("Importing") == ""
    Work().start()
    assert slices.last_error() == ""


def test_a_mistake_of_ours_is_not_swallowed_and_leaves_no_job():
    work = Work(error=KeyError("oops")).start("Baking")
    with pytest.raises(KeyError):
        finish()
    assert slices.current() is None and work.closed
    assert slices.last_error() == "Baking stopped because of a mistake in Motion Matching: see the system console."


def test_what_goes_wrong_at_the_very_end_is_told_too():
    def done(_):
        raise MotionError("There is no place for it.")
    slices.start(Work().steps, "Baking", done)
    finish()
    assert slices.current() is None and slices.last_error("Baking") == "There is no place for it."


def test_there_is_one_job_at_a_time():
    work = Work().start("Baking")
    with pytest.raises(MotionError, match="Baking is still under way: wait for it or cancel it first"):
        Work().start("Importing")
    finish()
    assert work.result == "made"


def test_a_job_may_start_another_one_when_it_is_done():
    second = Work()
    slices.start(Work().steps, "First", lambda _: second.start("Second"))
    while slices.current() is not None:
        slices.tick()
    assert second.result == "made"


def test_a_new_job_right_after_a_cancelled_one_has_one_timer(monkeypatch):
    registered, register = [], bpy.app.timers.register

    def noted(function, **options):
        registered.append(function)
        return register(function, **options)
    monkeypatch.setattr(bpy.app.timers, "register", noted)
    for _ in range(2):
        Work().start()
        slices.cancel()
    assert registered.count(slices.tick) <= 1  # the timer of the first job is still there


def test_opening_a_file_cancels_the_job():
    work = Work().start()
    slices.tick()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert slices.current() is None and work.closed


def test_disabling_the_extension_cancels_the_job():
    work = Work().start()
    slices.tick()
    slices.unregister()
    try:
        assert slices.current() is None and work.closed and not bpy.app.timers.is_registered(slices.tick)
        assert slices.on_load not in bpy.app.handlers.load_pre
    finally:
        slices.register()


def test_scripts_run_the_same_steps_at_once():
    work = Work()
    assert slices.run(work.steps) == "made" and work.done == 3


# What nobody waits for

def quietly(work):
    slices.start_quietly(work.steps, "Quiet", lambda result: setattr(work, "result", result), 7)
    return work


def test_a_quiet_job_goes_on_while_nothing_else_does_and_stops_nobody():
    work = quietly(Work(30))
    slices.tick()
    slices.tick()
    assert slices.quiet().about == 7 and slices.current() is None and work.done
    done, other = work.done, Work().start()
    while slices.current() is not None:
        slices.tick()
    assert other.result == "made" and work.done == done
    assert finish() and work.result == "made" and slices.quiet() is None


def test_a_quiet_job_waits_while_somebody_is_busy(monkeypatch):
    work, busy = quietly(Work()), [True]
    monkeypatch.setattr(slices, "busy", [lambda: busy[0]])
    assert slices.tick() == slices.WAIT and not work.done
    busy[0] = False
    assert finish() and work.result == "made"


def test_quiet_jobs_end_with_a_cancel_a_new_one_and_a_new_file():
    first, second, third = (Work() for _ in range(3))
    quietly(first)
    slices.tick()
    quietly(second)
    slices.tick()
    assert first.closed and not second.closed
    slices.cancel()
    assert second.closed and slices.quiet() is None and slices.last_error() == ""
    quietly(third)
    slices.tick()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert third.closed and slices.quiet() is None


def test_a_quiet_job_that_fails_says_nothing_about_what_was_asked_for():
    quietly(Work(error=MotionError("It is gone.")))
    finish()
    assert slices.quiet() is None and slices.last_error() == ""
