"""Migrations of the store, run by `server.memory.database` when a store is opened."""
