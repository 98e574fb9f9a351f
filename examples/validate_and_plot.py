# SPDX-License-Identifier: Apache-2.0
"""Compare servo models with a recording: errors, and a plot of measured and simulated positions.

.venv/bin/python examples/validate_and_plot.py
"""

from bam_core import PendulumBench, plot_fit, simulate_recording, synthesize, validate

# A simulated recording; your own are load_recordings("recordings").
recording = synthesize("xl330", PendulumBench(mass=0.3, length=0.1), "lift_and_drop", kp=400)

simulated, errors = {}, {}
for servo in ("xl330", "xl330_bam"):  # library names, or files such as "identified/m4.yaml"
    simulated[servo] = simulate_recording(servo, recording)  # in MuJoCo
    errors[servo] = validate(servo, [recording]).mae
    print(f"{servo}: off by {1e3 * errors[servo]:.2f} mrad")
plot_fit(recording, simulated, errors).savefig("fit.png")
