# SPDX-License-Identifier: GPL-3.0-or-later
"""Training from a database to a file: first the Decompressor, then Stepper and Projector side by side."""

import os
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from threading import Event

import numpy as np

from ..control.stick_guide import StickGuide
from ..errors import Cancelled, MotionError
from ..matching import database as databases
from ..networks.file import Networks
from ..playback.group import Group
from ..playback.library import BakedLibrary
from ..playback.limbs import Limbs
from ..steps import Progress
from . import device as devices
from . import figures, plan, queries, ranks
from .decompressor import DecompressorStage
from .examples import Examples
from .experts.decompressor import ExpertDecompressorStage
from .experts.projector import ExpertProjectorStage
from .experts.sizes import experts_for
from .experts.stepper import ExpertStepperStage
from .projector import ProjectorStage
from .refine import refined
from .stage import CANCELLED
from .stepper import StepperStage
from .watching.folder import HelpersFolder, TrainingFolder, folder_of

# Shares of the time at which the Decompressor has learned, its latents are as good as they get, and queries have been
# collected; Stepper and Projector get the rest, at the same time. Latents and queries seldom take that long.
FIRST, REFINED, ASKED = 0.3, 0.4, 0.5
# How much longer the figures of all networks take than those of the Decompressor.
ALL_FIGURES = 5.0
# Seconds between lines of progress, between figures, and between checkpoints.
LINES, FIGURES, CHECKPOINTS = 5.0, 60.0, 60.0
POLL = 0.1
# The stages of each model.
MODELS = {"lmm": (DecompressorStage, StepperStage, ProjectorStage),
          "moe": (ExpertDecompressorStage, ExpertStepperStage, ExpertProjectorStage)}
# Threads that share the Decompressor's batch: more than a few get too little to do each.
MOST_THREADS = 4

# What every checkpoint has.
KEPT = {"key", "seed", "seconds", "begun", "stages"}
OTHER_VERSION = "The checkpoint was made by another version of Motion Matching: train without --resume."


@dataclass(frozen=True)
class Budget:
    """How long to train: minutes for everything, or iterations for each network (which can be repeated exactly)."""

    minutes: float = 15.0
    iterations: int | None = None


def train(database, output, budget=None, seed=0, resume=False, folder=None, watch=None, device="auto",
          model="lmm", started=None):
    """Trains on a .mmdb file and writes a .mmnet file; its figures and the verdict as plain values. With torchrun the
    first process does so, and the others help it.

    model   "lmm", the networks of 2020, or "moe", those of 2023 that are made of experts
    folder  of the training; beside the output if it is not given
    watch   is called with the Progress now and then
    started when the time began to run (time.monotonic()), if it was not now
    """
    started = time.monotonic() if started is None else started
    devices.leave_room()
    device = devices.choose(device)
    ranks.join(device)
    motion = databases.load(database)
    place = folder or folder_of(output)
    files = TrainingFolder(place, resume) if ranks.FIRST else HelpersFolder(place)
    kept = files.kept() if resume else None
    training = _Training(motion, files, budget or Budget(), seed, watch, started, device, model)
    if kept is not None:
        training.resume(kept)
    try:
        training.run()
    except (Cancelled, KeyboardInterrupt):
        training.keep()
        files.write(cancelled=True, seconds=round(training.seconds, 1))
        raise Cancelled("The training was cancelled: resume it (--resume) to go on.") from None
    finally:
        ranks.leave()
    return training.finish(output)


class _Training:
    def __init__(self, motion, files, budget, seed, watch, started, device, model):
        self.motion, self.files, self.budget, self.seed = motion, files, budget, seed
        self.watch, self.model = watch, model
        self._started, self._before = started, 0.0
        self.examples = Examples(motion, device)
        if not len(self.examples.starts(1)):
            raise MotionError("The database has too few frames to learn from: bake longer clips.")
        Limbs(motion.character, motion.fixed, self.examples.moving)  # what cannot be driven is said now
        self._kinds = MODELS[model]
        self._options = {"experts": experts_for(len(self.examples))} if model == "moe" else {}
        self._say_plan()
        self.decompressor = self._kinds[0](self.examples, seed, threads=_threads(device), **self._options)
        self.stepper = self.projector = None
        self.latents, self.figures, self._measuring = None, {}, 0.0
        self._begun, self._kept_states, self._losses = {}, {}, {}
        now = time.monotonic()
        self._told = self._measured = self._saved = now

    def _say_plan(self):
        """What will be done, and why, before it is."""
        self.files.write(plan=(text := plan.of(self.examples, self.model, self._options)))
        if self.watch is not None:
            self.watch(Progress(0.0, text))

    @property
    def seconds(self):
        """That were spent on it, before it was resumed too."""
        return self._before + time.monotonic() - self._started

    def run(self):
        # Once others have begun to learn from its latents, the Decompressor stays what it is.
        if "others" not in self._begun:
            self._train("decompressor", (self.decompressor,), FIRST)
        self._freeze()
        self._train("others", (self.stepper, self.projector), 1.0)

    def finish(self, output):
        if not ranks.FIRST:
            return {"rank": ranks.RANK}
        self._measure()
        word, reason = figures.verdict(self.figures)
        self.figures |= {"verdict": word, "reason": reason, "minutes": round(self.seconds / 60, 2),
                         "iterations": {stage.name: stage.iterations for stage in self._stages()}}
        networks = self._networks()
        networks.save(output, self.latents)
        with suppress(MotionError):  # a disk that is full now: the networks are complete all the same
            self.keep()
        self.files.write(done=True, share=1.0, seconds=round(self.seconds, 1), figures=self.figures)
        return {**self.figures, "frames": len(self.motion), "network_bytes": networks.nbytes,
                "database_to_networks": round(self.motion.nbytes / networks.nbytes, 1)}

    def keep(self):
        self._saved = time.monotonic()
        with ExitStack() as still:
            for stage in self._stages():
                still.enter_context(stage.lock)
            self.files.keep({"key": self.motion.key, "seed": self.seed, "model": self.model,
                           "seconds": self.seconds, "begun": self._begun,
                           # Those that were kept before stay, until they are trained on.
                           "stages": self._kept_states | {stage.name: stage.state() for stage in self._stages()}})

    def resume(self, kept):
        if not (isinstance(kept, dict) and set(kept) >= KEPT and isinstance(kept["begun"], dict)
                and isinstance(kept["stages"], dict) and isinstance(kept["seconds"], float)):
            raise MotionError(OTHER_VERSION)
        if (kept["key"], kept["seed"]) != (self.motion.key, self.seed):
            raise MotionError("The checkpoint is of another database or seed: train without --resume.")
        if kept.get("model", "lmm") != self.model:
            raise MotionError("The checkpoint is of another model: choose that model, or train without --resume.")
        self._before, self._begun = kept["seconds"], kept["begun"]
        self._kept_states = kept["stages"]
        self._restored(self.decompressor)

    def _stages(self):
        return [stage for stage in (self.decompressor, self.stepper, self.projector) if stage is not None]

    def _restored(self, stage):
        """The stage as it was kept, if it was."""
        if stage.name in self._kept_states:
            try:
                stage.restore(self._kept_states[stage.name])
            except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
                raise MotionError(OTHER_VERSION) from error
        return stage

    def _freeze(self):
        """The Decompressor is done: latents of all frames, and the networks that are trained on them."""
        latents = refined(self.decompressor, self.decompressor.all_latents(), partial(self._goes_on, REFINED))
        self.latents = latents.cpu().numpy()
        self._measure()
        self.figures |= figures.worst_stored(self.examples, self.decompressor.kinematics, self.decompressor.weights(),
                                             self.latents)
        self._library = BakedLibrary(self.motion)
        goes_on = partial(self._goes_on, ASKED)
        asked, tags, _ = queries.of_courses(self._library, goes_on)
        driven = queries.of_chance(self._library, self.seed * ranks.COUNT + ranks.RANK, goes_on)
        self.stepper = self._restored(self._kinds[1](self.examples, latents, self.seed, **self._options))
        self.projector = self._restored(self._kinds[2](self.examples, latents, driven, self.seed, **self._options))
        limits = self.projector.limits.numbers(tags)
        self._test = asked, limits, self.projector.nearest(asked, limits)

    def _goes_on(self, until):
        """Whether a share of the time is not yet over. Processes that train together must all do the same."""
        if self.files.is_cancelled():
            raise Cancelled
        return self.budget.iterations is not None or ranks.COUNT > 1 or self.seconds < self._end(until)

    def _train(self, name, stages, until):
        """Until a share of the whole budget is used up, or no stage improves any more; each in a thread of its own."""
        begin = self._begun.setdefault(name, self.seconds)
        share_of = partial(self._share, begin, until)
        ended = Event()
        with ThreadPoolExecutor(len(stages)) as threads:
            running = [threads.submit(self._improve, stage, share_of, ended) for stage in stages]
            try:
                while (state := wait(running, POLL)).not_done and not any(one.exception() for one in state.done):
                    self._tell(stages, share_of)
            finally:
                ended.set()
        for future in running:
            future.result()
        self._write(stages, share_of)

    def _improve(self, stage, share_of, ended):
        """The work of a stage's thread."""
        devices.drop_small()
        losses = {}
        while losses is not None:
            self._losses[stage.name] = losses
            losses = stage.step(CANCELLED if ended.is_set() or self.files.is_cancelled() else
                                1.0 if stage.patience.over else share_of(stage))

    def _share(self, begin, until, stage):
        if self.budget.iterations is not None:
            return stage.iterations / self.budget.iterations
        return (self.seconds - begin) / max(self._end(until) - begin, 1e-3)

    def _end(self, until):
        """The second in which a share of the time is over. What came before the first iteration is not shared, and time
        for the last figures is left over."""
        first = self._begun["decompressor"]
        return first + until * (self.budget.minutes * 60 - self._measuring - 0.5 - first)

    def _tell(self, stages, share_of):
        now = time.monotonic()
        if now - self._saved > CHECKPOINTS:
            self.keep()
        if now - self._measured > FIGURES:
            self._measure()
            for stage in stages:
                if stage.error in self.figures:
                    stage.patience.add(share_of(stage), self.figures[stage.error])
        if now - self._told > LINES:
            self._told = time.monotonic()
            self._write(stages, share_of)

    def _write(self, stages, share_of):
        """A line for each stage that has taken a step."""
        whole = self._whole(stages, share_of)
        left = self.seconds * (1 - whole) / max(whole, 1e-3) if self.budget.iterations else (
            max(self.budget.minutes * 60 - self.seconds, 0.0))
        for stage in stages:
            values = {name: round(float(loss), 5) for name, loss in self._losses.get(stage.name, {}).items()}
            if not values:
                continue
            self.files.write(stage=stage.name, share=round(whole, 4), seconds=round(self.seconds, 1),
                           seconds_left=round(left, 1), iteration=stage.iterations, losses=values,
                           figures=self.figures)
        if self.watch is not None:
            error = self.figures.get("new_motion_cm")
            known = f", {error:.2f} cm" if error is not None else ""
            names = " and ".join(stage.name for stage in stages)
            self.watch(Progress(whole, f"{names}, {left / 60:.1f} min left{known}"))

    def _whole(self, stages, share_of):
        if self.budget.iterations is None:
            return min(self.seconds / (self.budget.minutes * 60), 1.0)
        share = min(1.0, min(map(share_of, stages)))
        return FIRST * share if stages[0] is self.decompressor else FIRST + (1 - FIRST) * share

    def _measure(self):
        """Figures of what there is so far."""
        if not ranks.FIRST:
            return
        before = time.monotonic()
        stage, examples = self.decompressor, self.examples
        with stage.lock:
            weights = stage.weights()
            latents = stage.all_latents().cpu().numpy() if self.stepper is None else None
        known = examples, stage.kinematics, weights
        if self.stepper is None:
            self.figures |= figures.of_new_motion(*known, latents)
            if self.latents is not None:
                self.figures |= figures.of_stored(*known, self.latents)
        else:
            with self.stepper.lock:
                stepper = self.stepper.weights()
            with self.projector.lock:
                self.figures |= figures.of_projector(self.projector, *self._test)
            self.figures |= figures.GoingOn(*known, stepper, self.stepper.stride, self.latents).drift()
        self._measured = time.monotonic()
        self._measuring = (self._measured - before) * (ALL_FIGURES if self.stepper is None else 1.0)

    def _networks(self):
        motion, examples = self.motion, self.examples
        states = np.concatenate([motion.features, self.latents], axis=1, dtype=np.float32)
        player = Group(self._library, [StickGuide(motion.rate)]).player
        return Networks(
            character=motion.character, rate=motion.rate, schema=motion.schema, normalisation=motion.normalisation,
            moving=examples.moving, fixed=motion.fixed,
            limits=np.stack([states.min(axis=0), states.max(axis=0)]), start=states[self._library.standing],
            heights=player.feet.standing.astype(np.float32), fronts=player.limbs.fronts.astype(np.float32),
            tags=examples.tags, combinations=examples.combinations[0], speeds=self._library.speeds,
            decompressor=self.decompressor.weights(), stepper=self.stepper.weights(),
            projector=self.projector.weights(), stride=self.stepper.stride, key=motion.key, figures=dict(self.figures),
            owner=motion.owner)


def _threads(device):
    """For the Decompressor: as many as there are processors, shared by the processes of torchrun."""
    return max(1, min((os.cpu_count() or 1) // ranks.COUNT, MOST_THREADS)) if device.type == "cpu" else 1
