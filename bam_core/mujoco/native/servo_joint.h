// SPDX-License-Identifier: Apache-2.0
// A servo on a joint of MuJoCo: what its law reads from mjData, and the friction row by which it acts on the solver.
#ifndef BAM_BENCH_SERVO_JOINT_H_
#define BAM_BENCH_SERVO_JOINT_H_

#include <algorithm>
#include <cmath>
#include <vector>

#include <mujoco/mujoco.h>

#include "mujoco_versions.h"
#include "servo_law.h"

namespace bam {

// MuJoCo's friction rows are springy, and even at their stiffest setting of 1e-4 a held joint creeps. This is their
// compliance relative to the joint's own inverse inertia. Ten times stiffer still converges in a few iterations, a
// hundred times does not in robots with contacts.
constexpr double kCompliance = 1e-7;

struct Joint {
  int dof;
  int position_address;
};

inline Joint JointOf(const mjModel* m, int joint) { return {m->jnt_dofadr[joint], m->jnt_qposadr[joint]}; }

// From this time step on, s, back-EMF and inertia of a joint are unstable.
inline double LongestStep(const mjModel* m, const Joint& joint, const Constants& c) {
  return c.resistance / (c.torque_constant * c.torque_constant * m->dof_invweight0[joint.dof]);
}

// Options may be changed while a model is stepped: they are checked in every step, as they are at the start.
inline bool IsStepStable(const mjModel* m, const Joint& joint, const Constants& c) {
  return m->opt.timestep < LongestStep(m, joint, c);
}

inline bool AreOptionsAllowed(const mjModel* m) {
  return m->opt.solver == mjSOL_NEWTON && m->opt.integrator != mjINT_RK4 &&
         !(m->opt.disableflags & mjDSBL_FRICTIONLOSS);
}

// Begin a step: motor torque and friction budget, in `state`.
inline void Begin(const mjModel* m, const mjData* d, const Joint& joint, const Constants& c, const Command& u,
                  State* state) {
  const int dof = joint.dof;
  state->drive.applied_torque = d->qfrc_applied[dof];
  const double push = d->qfrc_passive[dof] - d->qfrc_bias[dof] + d->qfrc_applied[dof];
  BeginStep(c, u, d->time, m->opt.timestep, d->qpos[joint.position_address], d->qvel[dof], push, state);
}

inline bool IsFinite(const Drive& drive) {
  return std::isfinite(drive.motor_torque + drive.friction_budget + drive.duty);
}

// The friction row of a degree of freedom, or -1. Tendons have friction rows, too. Rows are searched from `guess` on.
inline int RowOf(const mjData* d, int dof, int guess) {
  for (int i = 0; i < d->nf; ++i) {
    const int row = d->ne + (guess - d->ne + i) % d->nf;
    if (d->efc_type[row] == mjCNSTR_FRICTION_DOF && d->efc_id[row] == dof) return row;
  }
  return -1;
}

// Set this step's friction in its row, between the constraints' construction and the solver.
inline void SetRow(const mjModel* m, mjData* d, int row, State* state) {
  const double inverse_inertia = DiagonalOfA(d, row);
  state->next.inverse_inertia = inverse_inertia;
  const double compliance = kCompliance * inverse_inertia;
  const double limit = state->drive.friction_limit;
  // To rest within this step (eq. 4); the second term is how far the row gives way under the last force.
  const double stop = -state->drive.start_velocity / m->opt.timestep + compliance * state->memory.friction_torque;
  d->efc_frictionloss[row] = limit;
  d->efc_R[row] = compliance;
  d->efc_D[row] = 1.0 / compliance;
  d->efc_aref[row] = stop;
  if (d->nisland > 0) {  // the solver has a copy
    const int copy = d->map_efc2iefc[row];
    d->iefc_frictionloss[copy] = limit;
    d->iefc_R[copy] = compliance;
    d->iefc_D[copy] = 1.0 / compliance;
    d->iefc_aref[copy] = stop;
  }
}

// A joint that turns by less than this share of what friction could change in a step is where the force of its row
// bends from one end of its limit to the other.
constexpr double kBend = 1e-4;

// Friction of a row, N·m. Where the solver stops a joint within its tolerance, the force of the row may read as the
// whole limit, though less has stopped the joint. Then friction is what the equation of motion lacks.
inline double FrictionOf(const mjModel* m, const mjData* d, int dof, int row, const State& state) {
  const double force = d->efc_force[row], limit = d->efc_frictionloss[row];
  const double bend = kBend * m->opt.timestep * state.next.inverse_inertia * limit;
  if (std::abs(d->qvel[dof]) > bend || std::abs(force) < limit) return force;
  std::vector<mjtNum> inertial(m->nv);
  mj_mulM(m, d, inertial.data(), d->qacc);
  return std::clamp(inertial[dof] - d->qfrc_smooth[dof] - d->qfrc_constraint[dof] + force, -limit, limit);
}

// End a step behind the solver. `row` is -1 where the joint has no friction row: it is asleep.
inline void End(const mjModel* m, const mjData* d, const Joint& joint, int row, const Constants& c, State* state) {
  const int dof = joint.dof;
  const double friction = row >= 0 ? FrictionOf(m, d, dof, row, *state) : 0.0;
  const double own = state->drive.motor_torque + state->drive.applied_torque;
  const double other_smooth = d->qfrc_smooth[dof] - d->qfrc_passive[dof] + d->qfrc_bias[dof] - own;
  const double other = other_smooth + d->qfrc_constraint[dof] - (row >= 0 ? d->efc_force[row] : 0.0);
  EndStep(c, m->opt.timestep, d->qvel[dof], d->qacc[dof], friction, other, state);
}

}  // namespace bam

#endif  // BAM_BENCH_SERVO_JOINT_H_
