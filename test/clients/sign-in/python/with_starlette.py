"""As https://docs.authlib.org shows Starlette, and FastAPI above it."""

import os

from authlib.integrations.starlette_client import OAuth
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route

oauth = OAuth()
oauth.register(
    name="roster",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_kwargs={"scope": os.environ["SCOPE"]},
)


async def home(request):
    if user := request.session.get("user"):
        return PlainTextResponse(f"Signed in as {user['name']}, {','.join(user['roles'])}")
    return await oauth.roster.authorize_redirect(request, request.url_for("callback"))


async def callback(request):
    token = await oauth.roster.authorize_access_token(request)
    request.session["user"] = dict(token["userinfo"])
    return RedirectResponse("/")


routes = [Route("/", home), Route("/callback", callback, name="callback")]
middleware = [Middleware(SessionMiddleware, secret_key="a secret of the application alone")]
app = Starlette(routes=routes, middleware=middleware)
