"""A server that receives the reports of a survey, stores each of them once, and shows estimates. docs/server.md.

It holds reports only. It is made of Starlette, SQLAlchemy and prometheus_client (extra "server").
"""

from ._app import create_app

__all__ = ["create_app"]
