# SPDX-License-Identifier: Apache-2.0
"""Simulation of a robot, with a servo on every joint, that follows the goals of a recorded run.

Either the whole robot moves by its servos, or one joint at a time does while the others move as measured. The
second way does not carry the error of one joint over to others, as where a joint or a foot slips. So it does
not show what such an error does to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.mujoco.native.state import motor_torque_address
from bam_core.mujoco.start_contacts import exclude_start_contacts
from bam_core.robot.as_measured import measured_path, move_as_measured
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.engine_rollout import ENGINE_STATE, roll_out
from bam_core.robot.goal_controls import goal_controls
from bam_core.robot.restarts import LEAD, Piece, pieces, require_no_gap, start_states
from bam_core.robot.root import FIXED, prepare_root, stand
from bam_core.robot.run import RobotRun
from bam_core.robot.run_model import compile_for_run, joint_number
from bam_core.robot.trace import RobotTrace
from bam_core.servo.model import ServoModel

Others = Literal["simulated", "measured"]
"""How the other joints move while one is simulated: by their servos, or as measured."""

DEFAULT_STEP = 1e-3
"""s; on a humanoid's squats, 2 ms gives errors that differ by 0.1 mrad."""

SETTLING = 1.0
"""s; how long a robot stands with the first goals before a run begins: until its feet are loaded."""

_STIFF = 10.0  # of friction to pressure of contacts, MuJoCo's `impratio`: with 100, squats differ by more


@dataclass(frozen=True, kw_only=True, eq=False)
class _PreparedRun:
    """A robot in the posture in which a run begins, and its goals.

    Attributes:
        model: compiled, with servos and deviations.
        data: its state.
        first: sample of the run that the simulation begins with.
        zero: (joints of the run,) rad, readings of the encoders at zero.
        joints: (joints of the run,) their numbers in the model.
        times: (steps + 1,) s, on the clock of the run.
        control: (steps, controls), and the forces that move joints as measured where there are such.
        moved: numbers of those joints in the model.
        path: (steps + 1, moved) rad, where they move.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    first: int
    zero: Array
    joints: list[int]
    times: Array
    control: Array
    moved: list[int] = field(default_factory=list)
    path: Array | None = None

    @property
    def addresses(self) -> list[int]:
        """Where the joints' positions are in `qpos`."""
        return [int(address) for address in self.model.jnt_qposadr[self.joints]]


@dataclass(frozen=True, kw_only=True)
class RobotBench:
    """A robot and how its runs are simulated.

    Attributes:
        spec: the description, on its floor where it needs one; see `make`.
        root: "fixed", "free", or the site that stands on the floor at the start.
        step: of the simulation, s.
        settling: s before a run with its first goals.
        lead: s of a run before the interval that counts; None: all of it.
        others: how the other joints move.
        horizon: s, after which a simulation starts anew from measured states, again and again; None: never.
        restart_lead: s that are simulated anew before they count.
    """

    spec: mujoco.MjSpec
    root: str
    step: float = DEFAULT_STEP
    settling: float = SETTLING
    lead: float | None = None
    others: Others = "simulated"
    horizon: float | None = None
    restart_lead: float = LEAD

    @classmethod
    def make(
        cls,
        spec: mujoco.MjSpec,
        root: str,
        *,
        step: float = DEFAULT_STEP,
        others: Others = "simulated",
        paths: Sequence[tuple[Sequence[str], Array]] = (),
        start_contacts: bool = False,
    ) -> RobotBench:
        """Copy a description and put its root where it belongs; see `root.prepare_root`.

        Args:
            spec: the description.
            root: "fixed", "free", or the site that stands on the floor at the start.
            step: of the simulation, s.
            others: how the other joints move.
            paths: joints and (n, joints) their positions, rad, from where runs begin on; see
                `start_contacts.exclude_start_contacts`.
            start_contacts: whether contacts between links that touch there are simulated.
        """
        require_positive("simulation", step=step)
        prepared = spec.copy()
        prepared.option.timestep = step
        use_exact_friction(prepared.option)
        prepare_root(prepared, root)
        for key in prepared.keys:  # no simulation begins there; controls would have to be kept for each one
            key.ctrl, key.act = [], []
        if not start_contacts:
            exclude_start_contacts(prepared, paths)
        return cls(spec=prepared, root=root, step=step, others=others)

    def coarser(self, step: float, *, settling: float, lead: float) -> RobotBench:
        """Return a bench for searches: longer steps, and only what is needed before the interval."""
        require_positive("simulation", step=step)
        require_not_negative("simulation", settling=settling, lead=lead)
        spec = self.spec.copy()
        spec.option.timestep = step
        return replace(self, spec=spec, step=step, settling=settling, lead=lead)

    def stiff_contacts(self, step: float) -> RobotBench:
        """Return a bench where stiff friction keeps contacts from slipping, not MuJoCo's `noslip` solver."""
        require_positive("simulation", step=step)
        spec = self.spec.copy()
        spec.option.timestep = step
        spec.option.noslip_iterations = 0
        spec.option.impratio = max(spec.option.impratio, _STIFF)
        return replace(self, spec=spec, step=step)

    def restarted(self, horizon: float) -> RobotBench:
        """Return a bench whose simulations start anew from measured states every `horizon`, s.

        Only where all of a state is measured, which that of a base that moves is not, and where joints do not
        move as measured anyhow; elsewhere the bench itself is returned.
        """
        require_positive("simulation", horizon=horizon)
        if self.root != FIXED or self.others == "measured":
            return self
        return replace(self, horizon=horizon)

    def simulate(
        self,
        run: RobotRun,
        servos: Mapping[str, ServoModel],
        deviations: RobotDeviations = NO_DEVIATIONS,
    ) -> Array:
        """Return where the joints are: (n, joints of the run) rad, as read by their encoders.

        The robot begins in the measured posture and at rest. Later measurements are not used, except after a
        gap (`gaps`): there it begins anew in the measured state. If others move as measured, that holds for
        each joint in turn. Joints with a servo that were not recorded hold where the description has them.
        Rows before the part that is simulated are those of the measurement.

        Args:
            run: with the goals; `kp` must be known.
            servos: by joint, at least those of the run that should move.
            deviations: of this robot from its description.

        Raises:
            BamError: a joint is not in the robot, or the gain is not known.
            DivergedError: the simulation diverges.
        """
        if self.others == "simulated":
            return self._simulated(run, servos, deviations, ())
        simulated = run.position.copy()
        for joint in servos:
            if joint in run.joints:
                rest = tuple(neighbour for neighbour in run.joints if neighbour != joint)
                alone = {driven: servo for driven, servo in servos.items() if driven not in rest}
                column = run.column(joint)
                simulated[:, column] = self._simulated(run, alone, deviations, rest)[:, column]
        return simulated

    def _simulated(
        self,
        run: RobotRun,
        servos: Mapping[str, ServoModel],
        deviations: RobotDeviations,
        measured: tuple[str, ...],
    ) -> Array:
        """Return (n, joints) rad where joints move by their servos, and others as measured."""
        prepared = self._prepare(run, servos, deviations, measured)
        columns = [1 + address for address in prepared.addresses]
        simulated = run.position.copy()
        for piece, path in self._pieces(run, prepared, columns, servos):
            times = prepared.times[piece.start : piece.end + 1]
            ends = np.searchsorted(run.time, [prepared.times[piece.counts], times[-1]])
            begin = prepared.first if piece.start == 0 else int(ends[0])
            end = len(run.time) if piece.end == len(prepared.times) - 1 else int(ends[1])
            simulated[begin:end] = _at(run.time[begin:end], times, path) + prepared.zero
        return simulated

    def _pieces(
        self, run: RobotRun, prepared: _PreparedRun, columns: Sequence[int], servos: Mapping[str, ServoModel]
    ) -> Iterator[tuple[Piece, Array]]:
        """Yield each piece and its path (steps + 1, columns), all but the first from a measured state."""
        model, data = prepared.model, prepared.data
        restarts = self._restarts(run, prepared.first)
        parts = pieces(
            prepared.times, run.time[prepared.first], self.horizon, restarts.tolist(), lead=self.restart_lead
        )
        starts = np.array([part.start for part in parts[1:]], dtype=int)
        positions, speeds = start_states(run, servos, prepared.times[starts])
        initial = np.empty(mujoco.mj_stateSize(model, ENGINE_STATE))
        mujoco.mj_getState(model, data, initial, ENGINE_STATE)
        for number, part in enumerate(parts):
            mujoco.mj_setState(model, data, initial, ENGINE_STATE)
            if number:
                data.qpos[prepared.addresses] = positions[number - 1] - prepared.zero
                data.qvel[model.jnt_dofadr[prepared.joints]] = speeds[number - 1]
                if prepared.path is not None:  # joints that move as measured, half a step behind
                    now, before = prepared.path[part.start], prepared.path[max(part.start - 1, 0)]
                    data.qpos[model.jnt_qposadr[prepared.moved]] = now
                    data.qvel[model.jnt_dofadr[prepared.moved]] = (now - before) / self.step
                data.qacc_warmstart[:] = 0.0
            yield part, roll_out(model, data, prepared.control[part.start : part.end], columns)

    def _restarts(self, run: RobotRun, first: int) -> Array:
        """Return the times at which the simulation of a run begins anew, s; raises BadData."""
        if self.root != FIXED:  # goals are known but in gaps, and the robot may have followed them
            require_no_gap(run, first)
            return np.zeros(0)
        return run.time[run.restarts[run.restarts > first]]

    def trace(
        self,
        run: RobotRun,
        servos: Mapping[str, ServoModel],
        deviations: RobotDeviations = NO_DEVIATIONS,
    ) -> RobotTrace:
        """Return all that `simulate` lets a robot do, from the settling before the run on.

        Args:
            run: as for `simulate`.
            servos: by joint, those of the run among them.
            deviations: of this robot from its description.

        Raises:
            BamError: as `simulate`.
        """
        prepared = self._prepare(run, servos, deviations, ())
        model = prepared.model
        plugin = mujoco.mj_stateSize(model, ENGINE_STATE) - model.npluginstate  # the last part of a state
        columns = [*range(1, 1 + model.nq), *(1 + model.nq + model.jnt_dofadr[prepared.joints])]
        columns += [plugin + motor_torque_address(model, joint) for joint in run.joints]
        path = np.empty((len(prepared.times), len(columns)))
        for piece, part in self._pieces(run, prepared, columns, servos):
            path[piece.start : piece.end + 1] = part
        state, speed, torque = np.split(path, [model.nq, model.nq + len(run.joints)], axis=1)
        return RobotTrace(time=prepared.times, state=state, speed=speed, torque=torque)

    def postures(
        self, run: RobotRun, servos: Mapping[str, ServoModel], deviations: RobotDeviations = NO_DEVIATIONS
    ) -> Array:
        """Return (n, nq) generalised positions of the whole robot, base included; see `simulate`.

        Angles are those of the joints, not readings of their encoders. Rows before the part that is simulated
        are those of its beginning.
        """
        seen = self.trace(run, servos, deviations)
        return np.stack([np.interp(run.time, seen.time, positions) for positions in seen.state.T], axis=1)

    def _prepare(
        self,
        run: RobotRun,
        servos: Mapping[str, ServoModel],
        deviations: RobotDeviations,
        measured: tuple[str, ...],
    ) -> _PreparedRun:
        """Return the robot where a run begins, with its controls; `measured` joints move as measured."""
        model = compile_for_run(self.spec, run, servos, deviations)
        data = mujoco.MjData(model)
        first = self._first_sample(run)
        zero = np.array([deviations.zero.get(joint, 0.0) for joint in run.joints])
        joints = [joint_number(model, joint) for joint in run.joints]
        addresses = model.jnt_qposadr[joints]
        # Positions are in the encoder's terms; the engine's are angles of the joint.
        position = run.position - zero
        data.qpos[addresses] = position[first]
        begin = run.time[first] - self.settling
        times = begin + self.step * np.arange(round((run.time[run.counts][-1] - begin) / self.step) + 1)
        forces = np.zeros((len(times) - 1, 0))
        path = None
        if measured:
            columns = [run.column(joint) for joint in measured]
            path = measured_path(times, run.time[first:], position[first:, columns])
            data.qpos[addresses[columns]] = path[0]
            forces = move_as_measured(model, measured, path)
        stand(model, data, self.root)
        mujoco.mj_forward(model, data)
        # The engine's velocities belong to the middle of its steps, so a torque acts from half a step before
        # its time until half a step after it.
        control = goal_controls(model, data, run, zero, times - deviations.delay - 0.5 * self.step)
        return _PreparedRun(
            model=model,
            data=data,
            first=first,
            zero=zero,
            joints=joints,
            times=times,
            control=np.hstack([control, forces]),
            moved=[joint_number(model, joint) for joint in measured],
            path=path,
        )

    def compiled(self, run: RobotRun, servos: Mapping[str, ServoModel]) -> mujoco.MjModel:
        """Return the robot as described, with servos whose gains are a run's.

        Raises:
            BamError: a joint is not in the robot, or a gain is not known.
        """
        return compile_for_run(self.spec, run, servos, NO_DEVIATIONS)

    def _first_sample(self, run: RobotRun) -> int:
        if self.lead is None or run.interval is None:
            return 0
        return int(np.searchsorted(run.time, run.interval[0] - self.lead))


def _at(times: Array, steps: Array, path: Array) -> Array:
    """Return (times, columns) a path (steps, columns) between its steps."""
    return np.stack([np.interp(times, steps, column) for column in path.T], axis=1)


def use_exact_friction(option: mujoco.MjOption) -> None:
    """Replace numerical methods under which friction does not hold still; they are no property of a robot."""
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    if option.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        option.integrator = mujoco.mjtIntegrator.mjINT_EULER
