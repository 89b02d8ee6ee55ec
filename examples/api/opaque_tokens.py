"""An API that asks Roster about each access token, and learns of a revocation at once. Flask."""

import os
from functools import wraps

import requests
from flask import Flask, abort, g, request

app = Flask(__name__)
metadata = requests.get(os.environ["ISSUER"] + "/.well-known/openid-configuration", timeout=5).json()
roster = requests.Session()
# The API is an application of the project, of type API.
roster.auth = (os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])


def caller():
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return abort(401)
    answer = roster.post(metadata["introspection_endpoint"], data={"token": token}, timeout=5)
    # A 401 here is about the API's own secret, not about the token.
    answer.raise_for_status()
    found = answer.json()
    return found if found["active"] and os.environ["PROJECT_ID"] in audience(found) else abort(401)


def audience(found):
    return found["aud"] if isinstance(found["aud"], list) else [found["aud"]]


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
