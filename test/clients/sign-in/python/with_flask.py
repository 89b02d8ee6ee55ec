"""As https://docs.authlib.org shows Flask."""

import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session, url_for

app = Flask(__name__)
app.secret_key = "a secret of the application alone"
oauth = OAuth(app)
oauth.register(
    name="roster",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_kwargs={"scope": os.environ["SCOPE"]},
)


@app.route("/")
def home():
    if user := session.get("user"):
        return f"Signed in as {user['name']}, {','.join(user['roles'])}"
    return oauth.roster.authorize_redirect(url_for("callback", _external=True))


@app.route("/callback")
def callback():
    session["user"] = oauth.roster.authorize_access_token()["userinfo"]
    return redirect("/")
