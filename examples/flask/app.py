"""A web server whose users sign in with Roster: Flask and Authlib."""

import os
import secrets
from functools import wraps

from authlib.integrations.flask_client import OAuth, OAuthError
from flask import Flask, abort, redirect, session, url_for

app = Flask(__name__)
app.secret_key = os.environ.get("SECRET_KEY", secrets.token_hex(32))
# Flask's cookie can be read by the browser. So the tokens stay here; with several processes, in a database.
tokens = {}


def save(token, **_):
    tokens[session["id"]] = token


roster = OAuth(app).register(
    "roster",
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email roles offline_access", "code_challenge_method": "S256"},
    fetch_token=lambda: tokens.get(session.get("id")),
    update_token=save,
)


@app.get("/")
def home():
    if "id" not in session:
        return '<a href="/sign-in">Sign in with Roster</a>'
    return {"name": session["name"], "roles": session["roles"]}


@app.get("/sign-in")
def sign_in():
    return roster.authorize_redirect(url_for("callback", _external=True))


@app.get("/callback")
def callback():
    # Checks state, nonce and the ID token.
    token = roster.authorize_access_token()
    person = token["userinfo"]
    session.clear()
    session.update(id=secrets.token_hex(16), name=person["name"], roles=person.get("roles", []))
    save(token)
    return redirect("/")


@app.errorhandler(OAuthError)
def refused(error):
    app.logger.warning("sign-in refused: %s: %s", error.error, error.description)
    return {"error": error.error}, 400


def needs(role):
    def guarded(view):
        @wraps(view)
        def guard():
            return view() if role in session.get("roles", []) else abort(403)

        return guard

    return guarded


@app.get("/books")
@needs("reader")
def books():
    return ["The Mythical Man-Month"]


@app.get("/me")
def me():
    # Authlib refreshes an access token that has less than a minute left.
    return roster.userinfo() if session.get("id") in tokens else abort(401)


@app.get("/sign-out")
def sign_out():
    token = tokens.pop(session.get("id"), None)
    session.clear()
    # The browser goes to Roster, whose session is in the browser's cookie. A call from here would end nothing.
    return roster.logout_redirect(url_for("home", _external=True), token and token["id_token"])
