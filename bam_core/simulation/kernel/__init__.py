# SPDX-License-Identifier: Apache-2.0
"""BAM Algorithm 1 and its variants, compiled: a block of lanes, each one candidate on one log.

The loops over lanes hold nothing but arithmetic, in groups of LANES, so that they become vector code; what
all candidates of a block leave off (load terms, Stribeck terms, effects) is skipped for all lanes at once.
Nothing is allocated in the step loop, and the interpreter lock is released. `reference.py` is the executable
specification.

`block.py` makes the steps: `firmware.py` demands, `protection.py` limits demands, `motor.py` drives,
`bench.py`, `arm_link.py` or `joint_load.py` loads, `friction.py` brakes, `integration.py` moves; `parts.py`
lists which of this a block needs, and `lanes.py` how it keeps its lanes.
"""
