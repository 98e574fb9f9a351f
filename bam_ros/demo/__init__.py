# SPDX-License-Identifier: Apache-2.0
"""`make demo`: the whole way from a servo on its bus to a simulation that moves like it, without hardware."""
