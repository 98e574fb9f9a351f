# SPDX-License-Identifier: Apache-2.0
"""Files: YAML, JSON and npz that are read strictly, and output that is written whole or not at all."""
