"""Drivers of other memory systems: each runs in an environment of its own, which holds that system and nothing of ours."""
