"""As https://oauthenticator.readthedocs.io shows a provider of OpenID Connect that it does not know."""

import os
import sys

c = get_config()  # noqa: F821
ISSUER, PORT = os.environ["ISSUER"], os.environ["PORT"]
c.JupyterHub.bind_url = f"http://localhost:{PORT}"
c.JupyterHub.hub_port = int(os.environ["HUB_PORT"])
c.ConfigurableHTTPProxy.api_url = f"http://localhost:{os.environ['PROXY_PORT']}"
c.ConfigurableHTTPProxy.command = [os.path.join(os.getcwd(), "node_modules/.bin/configurable-http-proxy")]
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.db_url = "sqlite:///:memory:"
c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.client_id = os.environ["CLIENT_ID"]
c.GenericOAuthenticator.client_secret = os.environ["CLIENT_SECRET"]
c.GenericOAuthenticator.oauth_callback_url = f"http://localhost:{PORT}/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = ISSUER + "/oauth/v2/authorize"
c.GenericOAuthenticator.token_url = ISSUER + "/oauth/v2/token"
c.GenericOAuthenticator.userdata_url = ISSUER + "/oidc/v1/userinfo"
c.GenericOAuthenticator.scope = os.environ["SCOPE"].split()
c.GenericOAuthenticator.username_claim = "name"
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.roles"
c.GenericOAuthenticator.enable_auth_state = True
# Whoever has the role gets in, and nobody else.
c.GenericOAuthenticator.allowed_groups = {"reader"}
c.GenericOAuthenticator.auto_login = True
c.CryptKeeper.keys = ["0" * 64]
c.JupyterHub.default_url = "/hub/home"
