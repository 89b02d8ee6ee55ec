"""Gets a token with Authlib, and verifies it with the library that the argument names: Authlib or PyJWT."""

import json
import ssl
import sys

import jwt
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url
from joserfc.jwk import KeySet
from joserfc import jwt as authlib_jwt

task = json.load(sys.stdin)
issuer, certificate = task["issuer"], task["certificate"]
session = OAuth2Session(task["clientId"], task["clientSecret"])
session.verify = certificate or True
# Otherwise REQUESTS_CA_BUNDLE goes before `verify`.
session.trust_env = False
metadata = OpenIDProviderMetadata(session.get(get_well_known_url(issuer, external=True), withhold_token=True).json())
metadata.validate_issuer()
metadata.validate_jwks_uri()
token = session.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")["access_token"]
algorithms = metadata["id_token_signing_alg_values_supported"]


def verify_by_authlib(text):
    keys = KeySet.import_key_set(session.get(metadata["jwks_uri"], withhold_token=True).json())
    claims = authlib_jwt.decode(text, keys, algorithms=algorithms).claims
    authlib_jwt.JWTClaimsRegistry(iss={"essential": True, "value": issuer}).validate(claims)
    return claims["sub"]


def verify_by_pyjwt(text):
    trusted = ssl.create_default_context(cafile=certificate) if certificate else None
    key = jwt.PyJWKClient(metadata["jwks_uri"], ssl_context=trusted).get_signing_key_from_jwt(text)
    return jwt.decode(text, key, algorithms=algorithms, issuer=issuer, audience=issuer)["sub"]


verify = {"Authlib": verify_by_authlib, "PyJWT": verify_by_pyjwt}[sys.argv[1]]
subject = verify(token)
try:
    verify(token.rpartition(".")[0] + "." + "A" * 86)
    refused = False
except Exception as error:
    refused = "signature" in type(error).__name__.lower()
json.dump({"subject": subject, "refused": refused}, sys.stdout)
