"""As https://mozilla-django-oidc.readthedocs.io shows it, with the name and the roles as its page on claims does."""

import os
import sys

from django.conf import settings

sys.modules["with_django"] = sys.modules[__name__]
ISSUER = os.environ["ISSUER"]
settings.configure(
    DEBUG=True,
    SECRET_KEY="a secret of the application alone",
    ROOT_URLCONF="with_django",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{os.environ['PORT']}.sqlite3"}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "mozilla_django_oidc",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    AUTHENTICATION_BACKENDS=["with_django.Backend"],
    OIDC_RP_CLIENT_ID=os.environ["CLIENT_ID"],
    OIDC_RP_CLIENT_SECRET=os.environ["CLIENT_SECRET"],
    OIDC_RP_SCOPES=os.environ["SCOPE"],
    OIDC_RP_SIGN_ALGO="RS256",
    OIDC_OP_JWKS_ENDPOINT=ISSUER + "/oauth/v2/keys",
    OIDC_OP_AUTHORIZATION_ENDPOINT=ISSUER + "/oauth/v2/authorize",
    OIDC_OP_TOKEN_ENDPOINT=ISSUER + "/oauth/v2/token",
    OIDC_OP_USER_ENDPOINT=ISSUER + "/oidc/v1/userinfo",
    LOGIN_REDIRECT_URL="/",
)

import django  # noqa: E402

django.setup()

from django.core.management import execute_from_command_line  # noqa: E402
from django.http import HttpResponse, HttpResponseRedirect  # noqa: E402
from django.urls import include, path  # noqa: E402
from mozilla_django_oidc.auth import OIDCAuthenticationBackend  # noqa: E402


class Backend(OIDCAuthenticationBackend):
    def create_user(self, claims):
        user = super().create_user(claims)
        user.first_name, user.last_name = claims["name"], ",".join(claims["roles"])
        user.save()
        return user


def home(request):
    if not request.user.is_authenticated:
        return HttpResponseRedirect("/oidc/authenticate/")
    return HttpResponse(f"Signed in as {request.user.first_name}, {request.user.last_name}")


urlpatterns = [path("", home), path("oidc/", include("mozilla_django_oidc.urls"))]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
