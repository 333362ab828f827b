"""Omoide: a self-hosted voice server for desk robots that remembers."""
