// SPDX-License-Identifier: Apache-2.0
// What MuJoCo 3.4 to 4.0 call differently. Where a structure has the newer member, the function with `int` is chosen;
// else that with `long`, for which an int has to be converted. No list of versions has to be kept.
#ifndef BAM_BENCH_MUJOCO_VERSIONS_H_
#define BAM_BENCH_MUJOCO_VERSIONS_H_

#include <mujoco/mujoco.h>

namespace bam {
namespace versions {

template <typename Data>
auto DiagonalOfA(const Data* d, int row, int) -> decltype(+d->efc_diagA[row]) {
  return d->efc_diagA[row];
}
template <typename Data>
double DiagonalOfA(const Data* d, int row, long) {
  return d->efc_diagApprox[row];
}

// Older ones: each actuator has one control and one force, and bears their number.
template <typename Model>
auto ActuatorCount(const Model* m, int) -> decltype(+m->nactuator) {
  return m->nactuator;
}
template <typename Model>
int ActuatorCount(const Model* m, long) {
  return m->nu;
}

template <typename Model>
auto ControlOf(const Model* m, int actuator, int) -> decltype(+m->actuator_ctrladr[actuator]) {
  return m->actuator_ctrladr[actuator];
}
template <typename Model>
int ControlOf(const Model*, int actuator, long) {
  return actuator;
}

template <typename Model>
auto ForceOf(const Model* m, int actuator, int) -> decltype(+m->actuator_outadr[actuator]) {
  return m->actuator_outadr[actuator];
}
template <typename Model>
int ForceOf(const Model*, int actuator, long) {
  return actuator;
}

}  // namespace versions

// The inverse inertia that a constraint's row sees.
inline double DiagonalOfA(const mjData* d, int row) { return versions::DiagonalOfA(d, row, 0); }

inline int ActuatorCount(const mjModel* m) { return static_cast<int>(versions::ActuatorCount(m, 0)); }

// Where an actuator's first control is, and its first force.
inline int ControlOf(const mjModel* m, int actuator) { return versions::ControlOf(m, actuator, 0); }
inline int ForceOf(const mjModel* m, int actuator) { return versions::ForceOf(m, actuator, 0); }

}  // namespace bam

#endif  // BAM_BENCH_MUJOCO_VERSIONS_H_
