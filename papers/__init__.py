# SPDX-License-Identifier: Apache-2.0
"""Four papers redone: each number or statement of a paper beside what this suite finds.

``.venv/bin/python -m papers kikuuwe --output redone`` writes plots, page.md, summary.json and checks.json.
A folder here per paper; a tool of the repository, which no installation has.
"""
