"""Several servers of surveys under the paths of one address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route


def mounted(apps: Mapping[str, Starlette]) -> Starlette:
    """Return an application that has others under their names: "sleep" under /sleep/. They share nothing but the process.

    `/health` is that of all of them.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps.values():
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    async def health(request: Request) -> Response:
        answers: list[Response] = [await app.state.health(request) for app in apps.values()]
        return next((answer for answer in answers if answer.status_code != 200), answers[0])

    async def not_found(_: Request, __: Exception) -> Response:
        return JSONResponse({"error": f"there is no such path; surveys are under /{'/, /'.join(apps)}/"}, 404)

    routes = [Route("/health", health), *(Mount(f"/{name}", app=app) for name, app in apps.items())]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: not_found})
