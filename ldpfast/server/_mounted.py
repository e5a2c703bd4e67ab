"""Several servers of surveys under the paths of one address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route


def mounted(apps: Mapping[str, Starlette]) -> Starlette:
    """Return an application that has others under their names: "sleep" under /sleep/. They share nothing but the process.

    one `/health` tells about all of them.
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

    async def folder(request: Request) -> Response:
        # Relative: behind a proxy, the server knows neither the scheme nor the path of its address.
        path, query = request.url.path.rpartition("/")[2], request.url.query
        return RedirectResponse(f"{path}/?{query}" if query else f"{path}/", 307)

    async def not_found(_: Request, __: Exception) -> Response:
        return JSONResponse({"error": f"there is no such path; surveys are under /{'/, /'.join(apps)}/"}, 404)

    routes: list[BaseRoute] = [Route("/health", health)]
    for name, app in apps.items():
        routes += Route(f"/{name}", folder), Mount(f"/{name}", app=app)
    served = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: not_found})
    served.router.redirect_slashes = False
    return served
