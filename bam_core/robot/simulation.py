# SPDX-License-Identifier: Apache-2.0
"""A robot with a servo on every joint follows what goals of a recorded run.

The whole robot moves by its servos; or one joint at a time does, while the others move as measured. The
second way cannot pass an error from one joint on to another, where a joint slips or a foot does; but it knows
nothing of what a joint's error does to the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import mujoco
import mujoco.rollout
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Missing, UnknownName
from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.mujoco.library_warnings import divergence_reported
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.mujoco.native.state import motor_torque_address
from bam_core.mujoco.robot import compile_robot
from bam_core.mujoco.start_contacts import exclude_start_contacts
from bam_core.robot.as_measured import measured_path, move_as_measured
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.restarts import LEAD, Piece, pieces, require_no_gap, start_states
from bam_core.robot.root import FIXED, prepare_root, stand
from bam_core.robot.run import RobotRun
from bam_core.robot.table import add_tables
from bam_core.servo.gains import gain_of
from bam_core.servo.model import ServoModel

Others = Literal["simulated", "measured"]
"""How the other joints move while one is simulated: by their servos, or as measured."""

DEFAULT_STEP = 1e-3
"""s; on a humanoid's squats, 2 ms gives errors that differ by 0.1 mrad."""

SETTLING = 1.0
"""s; how long a robot stands with the first goals before a run begins: until its feet are loaded."""

_STIFF = 10.0  # of friction to pressure of contacts, MuJoCo's `impratio`: with 100, squats differ by more
_CHUNK = 200  # steps per call of the engine: it returns the whole state of each
_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
_CONTROL = mujoco.mjtState.mjSTATE_CTRL
_LARGEST_SPEED = 1e3  # rad/s; beyond it a simulation has diverged


class DivergedError(BadData):
    """A simulation left what a robot can do."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotTrace:
    """All that a simulated robot did, one row per step of the simulation.

    Attributes:
        time: (n,) s, on the clock of the run.
        state: (n, nq) coordinates of the robot, MuJoCo's `qpos`.
        speed: (n, joints of the run) rad/s.
        torque: (n, joints of the run) N·m, of the servos' motors.
    """

    time: Array
    state: Array
    speed: Array
    torque: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class _Begun:
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

        The robot begins in the measured posture and at rest. Later measurements are not used, but behind a
        gap (`gaps`), where it begins anew in the measured state. If others move
        as measured, that holds for each joint in turn. Joints with a servo that were not
        recorded hold where the description has them. Rows before the part that is simulated are those of the
        measurement.

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
        begun = self._begin(run, servos, deviations, measured)
        columns = [1 + address for address in begun.addresses]
        simulated = run.position.copy()
        for piece, path in self._pieces(run, begun, columns, servos):
            times = begun.times[piece.start : piece.end + 1]
            ends = np.searchsorted(run.time, [begun.times[piece.counts], times[-1]])
            begin = begun.first if piece.start == 0 else int(ends[0])
            end = len(run.time) if piece.end == len(begun.times) - 1 else int(ends[1])
            simulated[begin:end] = _at(run.time[begin:end], times, path) + begun.zero
        return simulated

    def _pieces(
        self, run: RobotRun, begun: _Begun, columns: Sequence[int], servos: Mapping[str, ServoModel]
    ) -> Iterator[tuple[Piece, Array]]:
        """Yield each piece and its path (steps + 1, columns), all but the first from a measured state."""
        model, data = begun.model, begun.data
        restarts = self._restarts(run, begun.first)
        first = run.time[begun.first]
        parts = pieces(begun.times, first, self.horizon, restarts.tolist(), lead=self.restart_lead)
        starts = np.array([part.start for part in parts[1:]], dtype=int)
        positions, speeds = start_states(run, servos, begun.times[starts])
        first = np.empty(mujoco.mj_stateSize(model, _STATE))
        mujoco.mj_getState(model, data, first, _STATE)
        for number, part in enumerate(parts):
            mujoco.mj_setState(model, data, first, _STATE)
            if number:
                data.qpos[begun.addresses] = positions[number - 1] - begun.zero
                data.qvel[model.jnt_dofadr[begun.joints]] = speeds[number - 1]
                if begun.path is not None:  # joints that move as measured, half a step behind
                    now, before = begun.path[part.start], begun.path[max(part.start - 1, 0)]
                    data.qpos[model.jnt_qposadr[begun.moved]] = now
                    data.qvel[model.jnt_dofadr[begun.moved]] = (now - before) / self.step
                data.qacc_warmstart[:] = 0.0
            yield part, self._rollout(replace(begun, control=begun.control[part.start : part.end]), columns)

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
        begun = self._begin(run, servos, deviations, ())
        model = begun.model
        plugin = mujoco.mj_stateSize(model, _STATE) - model.npluginstate  # the last part of a state
        columns = [*range(1, 1 + model.nq), *(1 + model.nq + model.jnt_dofadr[begun.joints])]
        columns += [plugin + motor_torque_address(model, joint) for joint in run.joints]
        path = np.empty((len(begun.times), len(columns)))
        for piece, part in self._pieces(run, begun, columns, servos):
            path[piece.start : piece.end + 1] = part
        state, speed, torque = np.split(path, [model.nq, model.nq + len(run.joints)], axis=1)
        return RobotTrace(time=begun.times, state=state, speed=speed, torque=torque)

    def postures(
        self, run: RobotRun, servos: Mapping[str, ServoModel], deviations: RobotDeviations = NO_DEVIATIONS
    ) -> Array:
        """Return (n, nq) generalised positions of the whole robot, base included; see `simulate`.

        Angles are those of the joints, not readings of their encoders. Rows before the part that is simulated
        are those of its beginning.
        """
        seen = self.trace(run, servos, deviations)
        return np.stack([np.interp(run.time, seen.time, positions) for positions in seen.state.T], axis=1)

    def _begin(
        self,
        run: RobotRun,
        servos: Mapping[str, ServoModel],
        deviations: RobotDeviations,
        measured: tuple[str, ...],
    ) -> _Begun:
        model = self._compile(run, servos, deviations)
        data = mujoco.MjData(model)
        first = self._first_sample(run)
        zero = np.array([deviations.zero.get(joint, 0.0) for joint in run.joints])
        joints = [self._joint(model, joint) for joint in run.joints]
        addresses = model.jnt_qposadr[joints]
        # Goals and positions are in the encoder's terms; the engine's are angles of the joint.
        goals = np.vstack([run.goal_before, run.goal_position]) - zero
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
        control = self._controls(model, data, run, goals, times - deviations.delay - 0.5 * self.step)
        return _Begun(
            model=model,
            data=data,
            first=first,
            zero=zero,
            joints=joints,
            times=times,
            control=np.hstack([control, forces]),
            moved=[self._joint(model, joint) for joint in measured],
            path=path,
        )

    def compiled(self, run: RobotRun, servos: Mapping[str, ServoModel]) -> mujoco.MjModel:
        """Return the robot as described, with servos whose gains are a run's.

        Raises:
            BamError: a joint is not in the robot, or a gain is not known.
        """
        return self._compile(run, servos, NO_DEVIATIONS)

    def _compile(
        self, run: RobotRun, servos: Mapping[str, ServoModel], deviations: RobotDeviations
    ) -> mujoco.MjModel:
        for joint in servos:
            if run.kp is None or (joint in run.joints and gain_of(run.kp, joint) is None):
                raise Missing(
                    f"{run.name}, kp of '{joint}'",
                    "the position gain of its servo",
                    advice="give --kp or add a bench.yaml",
                )
        spec = self.spec.copy()
        add_tables(spec, deviations.table)
        equip_native(
            spec,
            {
                joint: NativeServo(
                    servo=_in_run(deviations.unit(servo, joint), run, joint),
                    kp=gain_of(run.kp, joint),
                    kd=gain_of(run.kd, joint) or 0.0,
                    ki=gain_of(run.ki, joint) or 0.0,
                    supply_voltage=run.supply_voltage,
                    encoder_zero=deviations.zero.get(joint, 0.0),
                )
                for joint, servo in servos.items()
            },
            start_contacts=True,  # `make` has excluded them, or was told not to
        )
        for joint in servos:  # a real servo takes goals that its joint cannot reach
            spec.actuator(joint).ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
        model = compile_robot(spec)
        deviations.apply(model)
        return model

    def _first_sample(self, run: RobotRun) -> int:
        if self.lead is None or run.interval is None:
            return 0
        return int(np.searchsorted(run.time, run.interval[0] - self.lead))

    def _joint(self, model: mujoco.MjModel, joint: str) -> int:
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if number < 0:
            names = [model.joint(index).name for index in range(model.njnt)]
            raise UnknownName("joint", joint, filter(None, names))
        return int(number)

    def _controls(
        self, model: mujoco.MjModel, data: mujoco.MjData, run: RobotRun, goals: Array, edges: Array
    ) -> Array:
        """Return (steps, controls): the mean over each step of the goals as servos get them.

        Args:
            model: the robot.
            data: its state, in which joints without goals stay.
            run: when goals change.
            goals: (1 + n, joints) rad, those before the run and those of its samples.
            edges: (steps + 1,) s, of the steps.
        """
        control = np.zeros((len(edges) - 1, model.nu))
        switches = np.searchsorted(edges, run.time, side="right") - 1  # in which step goals change
        inside = (switches >= 0) & (switches < len(control))
        share = (edges[1:][switches[inside]] - run.time[inside]) / self.step
        newest = np.searchsorted(run.time, edges[:-1])
        for actuator in range(model.nu):
            joint = model.actuator(actuator).name
            if joint in run.joints:
                goal = goals[:, run.column(joint)]
                control[:, actuator] = goal[newest]
                np.add.at(control[:, actuator], switches[inside], share * np.diff(goal)[inside])
            elif model.actuator_plugin[actuator] >= 0:  # a servo that nothing is known of holds
                control[:, actuator] = data.qpos[model.jnt_qposadr[self._joint(model, joint)]]
        return control

    def _rollout(self, begun: _Begun, columns: Sequence[int]) -> Array:
        """Return (steps + 1, columns) of MuJoCo's states from the present one on."""
        model, data, control = begun.model, begun.data, begun.control
        applied = (
            _CONTROL if control.shape[1] == model.nu else _CONTROL | mujoco.mjtState.mjSTATE_QFRC_APPLIED
        )
        state = np.empty(mujoco.mj_stateSize(model, _STATE))  # it begins with the time
        mujoco.mj_getState(model, data, state, _STATE)
        path = np.empty((len(control) + 1, len(columns)))
        path[0] = state[columns]
        speeds = 1 + model.nq + np.arange(model.nv)
        warm = data.qacc_warmstart.copy()
        for begin in range(0, len(control), _CHUNK):
            with divergence_reported():
                states, _ = mujoco.rollout.rollout(
                    model,
                    data,
                    state[None],
                    control[None, begin : begin + _CHUNK],
                    control_spec=applied,
                    initial_warmstart=warm[None],
                )
            path[1 + begin : 1 + begin + states.shape[1]] = states[0][:, columns]
            state, warm = states[0, -1].copy(), data.qacc_warmstart.copy()
            if not np.all(np.abs(state[speeds]) < _LARGEST_SPEED):
                raise DivergedError("simulation", "diverged", advice="check servos, gains and step")
        return path


def _in_run(servo: ServoModel, run: RobotRun, joint: str) -> ServoModel:
    """Return a servo as the registers of a run made it."""
    acceleration = gain_of(run.goal_acceleration, joint)
    return replace(servo, firmware=servo.firmware.accelerated(acceleration))


def _at(times: Array, steps: Array, path: Array) -> Array:
    """Return (times, columns) a path (steps, columns) between its steps."""
    return np.stack([np.interp(times, steps, column) for column in path.T], axis=1)
