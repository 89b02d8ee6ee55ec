"""An API that checks access tokens by Roster's keys: no call to Roster for each request. PyJWT and Flask."""

import os
from functools import wraps

import jwt
import requests
from flask import Flask, abort, g, request

app = Flask(__name__)
metadata = requests.get(os.environ["ISSUER"] + "/.well-known/openid-configuration", timeout=5).json()
# Caches the keys, and fetches them again for a key that it does not know: they rotate.
keys = jwt.PyJWKClient(metadata["jwks_uri"])


def caller():
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        if scheme.lower() != "bearer" or jwt.get_unverified_header(token).get("typ") != "at+jwt":
            # An ID token has the same keys, and is not for an API.
            raise jwt.InvalidTokenError("no access token")
        return jwt.decode(
            token,
            keys.get_signing_key_from_jwt(token),
            algorithms=["RS256", "ES256", "PS256", "EdDSA"],
            issuer=metadata["issuer"],
            # Keeps tokens for other projects out.
            audience=os.environ["PROJECT_ID"],
            options={"require": ["exp", "sub"]},
        )
    except jwt.PyJWTError as error:
        app.logger.info("token refused: %s", error)
        return abort(401)


def needs(role):
    def guarded(view):
        @wraps(view)
        def guard():
            g.caller = caller()
            return view() if role in g.caller.get("roles", []) else abort(403)

        return guard

    return guarded


@app.get("/books")
@needs("reader")
def books():
    return {"reader": g.caller["sub"], "books": ["The Mythical Man-Month"]}
