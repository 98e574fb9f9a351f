// SPDX-License-Identifier: Apache-2.0
// One servo on the pendulum bench: the friction law M1-M6 and one step of the integrator "midpoint".
// The same equations as bam_core/servo/friction.py, motor.py, firmware.py and test/core/reference_simulation.py, with a rigid
// arm, a cold winding and no protection. test/core/site/test_explorer.py compares them in a browser.
"use strict";

const bam = (() => {
  const GRAVITY = 9.80665; // m/s², as servo/pendulum.py
  const VELOCITY_LIMIT = 1000; // rad/s, as simulation/rows.py

  const clip = (value, limit) => Math.min(Math.max(value, -limit), limit);

  // BAM eq. 10: largest friction torque, N·m. `friction` has the eleven coefficients and quadratic_rule.
  function budget(friction, motor, external, velocity) {
    const speed = Math.abs(velocity);
    const stribeck = Math.exp(-Math.pow(speed / friction.stribeck_velocity, friction.stribeck_exponent));
    const always =
      friction.viscous * speed +
      friction.coulomb +
      Math.abs(friction.load_motor * motor - friction.load_external * external);
    const atRest =
      friction.stribeck_coulomb +
      Math.abs(friction.load_motor_stribeck * motor - friction.load_external_stribeck * external) +
      quadratic(friction, motor, external);
    return always + stribeck * atRest;
  }

  function quadratic(friction, motor, external) {
    if (friction.quadratic_rule === "opposing" && !(motor * external < 0)) return 0;
    if (Math.abs(motor) > Math.abs(external)) return friction.quadratic_external * external * external;
    if (Math.abs(motor) < Math.abs(external)) return friction.quadratic_motor * motor * motor;
    return 0;
  }

  // BAM eqs. 4, 5: friction torque of one step of Algorithm 1, N·m.
  function applied(friction, motor, external, velocity, inertia, dt) {
    const stop = -((inertia / dt) * velocity + motor + external);
    return clip(stop, budget(friction, motor, external, velocity));
  }

  // Duty, or A of a current law, for a position error in rad and a velocity in rad/s.
  function demand(firmware, kp, error, velocity) {
    const shaped =
      Math.abs(error) <= firmware.dead_band ? 0 : error + firmware.error_offset * Math.sign(error);
    const damping = firmware.damping * Math.sqrt(firmware.gain * kp);
    return clip(firmware.gain * kp * shaped - damping * velocity, firmware.limit);
  }

  // Inertia and gravity torque of load and arm, kg·m² and N·m.
  const benchInertia = (bench) => (bench.mass + bench.arm_mass / 3) * bench.length ** 2;
  const benchTorque = (bench) => (bench.mass + bench.arm_mass / 2) * GRAVITY * bench.length;

  // Motor torque τ_m and -∂τ_m/∂θ̇ at the output shaft.
  function motorTorque(motor, voltage, velocity, enabled) {
    const current = ((voltage - motor.torque_constant * velocity) / motor.resistance) * enabled;
    const saturated = 1 + motor.torque_saturation * Math.abs(current);
    return {
      torque: (motor.torque_constant * current) / saturated,
      damping: ((motor.torque_constant ** 2 / motor.resistance) * enabled) / saturated ** 2,
    };
  }

  // One step. state: {position, velocity, acceleration} (that at the end of the step before);
  // wanted: the firmware's demand, duty or A; enabled: 1 or 0.
  function step(servo, bench, state, wanted, enabled, dt) {
    const { motor, friction, firmware, supply } = servo;
    const half = 0.5 * dt;
    let voltage = wanted * supply;
    let isKept = false; // a current that the electronics keep up: no back-EMF
    if (firmware.law === "current") {
      voltage = clip(motor.resistance * wanted + motor.torque_constant * state.velocity, supply);
      isKept = Math.abs(voltage) < supply;
    }
    const drive = motorTorque(motor, voltage, state.velocity, enabled);
    const damping = isKept ? 0 : drive.damping;
    const inertia = motor.armature + half * damping + benchInertia(bench);
    const external = -benchTorque(bench) * Math.sin(state.position + half * state.velocity);
    const middle = drive.torque - damping * half * state.acceleration;
    const expected = state.velocity + half * state.acceleration;
    const most = budget(friction, middle, external, expected);
    return moved(state, drive.torque + external, most, inertia, dt);
  }

  // Until the velocity reaches zero friction opposes the old motion, from then on it holds or opposes the new one.
  function moved(state, net, most, inertia, dt) {
    const { position, velocity } = state;
    const slowed = (net - (velocity > 0 ? most : -most)) / inertia;
    const turned = (net - clip(net, most)) / inertia;
    const free = velocity + slowed * dt;
    if (velocity * free > 0) {
      const onward = position + (velocity + 0.5 * slowed * dt) * dt;
      return { position: onward, velocity: clip(free, VELOCITY_LIMIT), acceleration: slowed };
    }
    const until = velocity !== 0 ? Math.min(-velocity / slowed, dt) : 0;
    const rest = dt - until;
    const stopped = position + (velocity + 0.5 * slowed * until) * until;
    return {
      position: stopped + 0.5 * turned * rest ** 2,
      velocity: clip(turned * rest, VELOCITY_LIMIT),
      acceleration: turned,
    };
  }

  // Positions (rad) at every step of a closed loop. goals: rad, one per step; enabled: 1 or 0, likewise.
  function run(servo, bench, kp, goals, enabled, dt) {
    let state = { position: goals[0], velocity: 0, acceleration: 0 };
    let point = goals[0]; // the set-point follows the goal at the firmware's speed
    const farthest = servo.firmware.goal_speed_limit === null ? Infinity : servo.firmware.goal_speed_limit * dt;
    const positions = [state.position];
    for (let k = 0; k + 1 < goals.length; k++) {
      point = enabled[k] > 0 ? point + clip(goals[k] - point, farthest) : state.position;
      const wanted = demand(servo.firmware, kp, point - state.position, state.velocity);
      state = step(servo, bench, state, wanted, enabled[k], dt);
      positions.push(state.position);
    }
    return positions;
  }

  // Torque of the motor at rest and full duty, N·m.
  function stallTorque(servo) {
    const { firmware, motor, supply } = servo;
    const wanted = firmware.limit * (firmware.law === "current" ? motor.resistance : supply);
    return motorTorque(motor, clip(wanted, supply), 0, 1).torque;
  }

  return { budget, applied, demand, step, run, stallTorque };
})();
