"""The HTTP door: OTA for robots, health, metrics and the API."""

from server.web.door import serve_web
from server.web.routes import create_web

__all__ = ["create_web", "serve_web"]
