"""Comparing Omoide's memory with other systems: the same dialogues, the same embedder, the same figures."""
