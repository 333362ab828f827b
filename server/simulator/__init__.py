"""A robot in software: it connects, listens, speaks and stutters as the firmware does, and measures what it got.

Tools and tests speak to a server through it, over a real socket and with the same codecs from the other side.
"""

from server.simulator.answer import Answer
from server.simulator.habits import Habits, LinkStalls
from server.simulator.line import Identity
from server.simulator.robot import Robot, open_robot

__all__ = ["Answer", "Habits", "Identity", "LinkStalls", "Robot", "open_robot"]
