"""A Django site whose users sign in with Roster: mozilla-django-oidc. A site of yours has these settings in its files."""

import os
import secrets
import sys
from urllib.parse import urlencode

from django.conf import settings

ISSUER = os.environ["ISSUER"]
settings.configure(
    DEBUG=True,
    SECRET_KEY=os.environ.get("SECRET_KEY", secrets.token_hex(32)),
    ROOT_URLCONF="shop",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("DATABASE", "shop.sqlite3")}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "mozilla_django_oidc",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    AUTHENTICATION_BACKENDS=["shop.People"],
    OIDC_RP_CLIENT_ID=os.environ["CLIENT_ID"],
    OIDC_RP_CLIENT_SECRET=os.environ["CLIENT_SECRET"],
    OIDC_RP_SCOPES="openid profile email roles",
    # It expects HS256 unless this says otherwise.
    OIDC_RP_SIGN_ALGO="RS256",
    OIDC_USE_PKCE=True,
    # It reads no discovery document.
    OIDC_OP_AUTHORIZATION_ENDPOINT=ISSUER + "/oauth/v2/authorize",
    OIDC_OP_TOKEN_ENDPOINT=ISSUER + "/oauth/v2/token",
    OIDC_OP_USER_ENDPOINT=ISSUER + "/oidc/v1/userinfo",
    OIDC_OP_JWKS_ENDPOINT=ISSUER + "/oauth/v2/keys",
    # For the hint at the sign-out.
    OIDC_STORE_ID_TOKEN=True,
    OIDC_OP_LOGOUT_URL_METHOD="shop.sign_out_url",
    LOGIN_REDIRECT_URL="/",
    LOGOUT_REDIRECT_URL="/",
)

import django  # noqa: E402

django.setup()

from django.contrib.auth.models import Group  # noqa: E402
from django.core.management import execute_from_command_line  # noqa: E402
from django.http import HttpResponse, HttpResponseForbidden, JsonResponse  # noqa: E402
from django.middleware.csrf import get_token  # noqa: E402
from django.urls import include, path  # noqa: E402
from django.utils.html import format_html  # noqa: E402
from mozilla_django_oidc.auth import OIDCAuthenticationBackend  # noqa: E402


class People(OIDCAuthenticationBackend):
    """A person is known by `sub`. As it comes, the library knows people by their address, which can change hands."""

    def filter_users_by_claims(self, claims):
        return self.UserModel.objects.filter(username=claims["sub"])

    def get_username(self, claims):
        return claims["sub"]

    def create_user(self, claims):
        return self.update_user(super().create_user(claims), claims)

    def update_user(self, user, claims):
        user.first_name, user.email = claims["name"], claims["email"]
        user.save()
        # Roles become groups, each time the person signs in.
        user.groups.set([Group.objects.get_or_create(name=role)[0] for role in claims.get("roles", [])])
        return user


def sign_out_url(request):
    # Where the library sends the browser, since Roster's session is in the browser's cookie.
    back = {"id_token_hint": request.session["oidc_id_token"], "post_logout_redirect_uri": request.build_absolute_uri("/")}
    return f"{ISSUER}/oidc/v1/end_session?{urlencode(back)}"


def home(request):
    if not request.user.is_authenticated:
        return HttpResponse('<a href="/oidc/authenticate/">Sign in with Roster</a>')
    roles = ", ".join(group.name for group in request.user.groups.all())
    return HttpResponse(
        format_html(
            'Hello, {} ({})<form method="post" action="/oidc/logout/">'
            '<input type="hidden" name="csrfmiddlewaretoken" value="{}"><button>Sign out</button></form>',
            request.user.first_name,
            roles,
            get_token(request),
        )
    )


def books(request):
    if not request.user.groups.filter(name="reader").exists():
        return HttpResponseForbidden()
    return JsonResponse({"books": ["The Mythical Man-Month"]})


urlpatterns = [path("", home), path("books", books), path("oidc/", include("mozilla_django_oidc.urls"))]

if __name__ == "__main__":
    sys.modules["shop"] = sys.modules["__main__"]
    execute_from_command_line(sys.argv)
