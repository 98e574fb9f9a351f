# SPDX-License-Identifier: Apache-2.0
"""Compare servo models with a recording: errors, and a plot of measured and simulated positions.

.venv/bin/python examples/validate_and_plot.py
"""

from bam_core import PendulumBench, plot_fit, simulate_recording, synthesize, validate

# A simulated recording; your own are load_recordings("recordings").
recording = synthesize("xl330", PendulumBench(mass=0.3, length=0.1), "lift_and_drop", kp=400)

simulated = {}
for servo in ("xl330", "xl330_bam"):  # library names, or files such as "identified/m4.yaml"
    simulated[servo] = simulate_recording(servo, recording)
    print(f"{servo}: off by {1e3 * validate(servo, [recording]).mae:.2f} mrad")
plot_fit(recording, simulated).savefig("fit.png")
