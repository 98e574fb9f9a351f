# SPDX-License-Identifier: Apache-2.0
"""Identify a servo from recordings: which friction model follows it best, and its parameters.

.venv/bin/python examples/identify.py
"""

from bam_core import IdentifySettings, PendulumBench, identify, synthesize, write_identification

# Simulated recordings; your own are load_recordings("recordings").
bench = PendulumBench(mass=1.0, length=0.15)  # kg, m
scripts = ("sin_sin", "sin_time_square", "up_and_down", "lift_and_drop")
recordings = [synthesize("mx106", bench, script, kp) for script in scripts for kp in (8, 32)]

result = identify(recordings, "mx106", IdentifySettings(models=["m1", "m4"], effects=[]))
for model, fit in result.fits.items():
    if fit.test_mae is not None:  # eight recordings or more have a test set
        print(f"{model}: off by {1e3 * fit.test_mae:.2f} mrad on recordings that took no part")
print(f"chosen: {result.chosen} ({result.reason})")
write_identification(result, "identified")  # m1.yaml, m4.yaml, summary.json, plots
