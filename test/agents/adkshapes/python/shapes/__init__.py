"""Agents of many shapes. A module holds the shapes of one subject; registry.py lists them."""

from google.adk import __version__

from . import callbacks, containers, custom, failures, mixtures, models, plain, sessions, tools, transfers, waiting
from .registry import available, build, listing

if not __version__.startswith("1."):
    from . import delegation, dynamic, workflows
