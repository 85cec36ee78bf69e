"""Drives the published kamiwaza-sdk through a session, and prints what it understood, one line a step."""

import logging
import os
import sys

# What whoever runs the tests has set for a platform of their own does not count here.
for name in [name for name in os.environ if name.startswith("KAMIWAZA_")]:
    del os.environ[name]

from kamiwaza_sdk import KamiwazaClient
from kamiwaza_sdk.authentication import ApiKeyAuthenticator, UserPasswordAuthenticator
from kamiwaza_sdk.exceptions import AuthenticationError, NonAPIResponseError
from kamiwaza_sdk.schemas.auth import PATCreate
from kamiwaza_sdk.token_store import InMemoryTokenStore

base, user, password = sys.argv[1:4]


def connect(authenticator=None, url=base):
    client = KamiwazaClient(url, authenticator=authenticator, log_level=logging.CRITICAL)
    client.session.trust_env = False
    return client


client = connect()
print("health", client.auth.health()["status"])

login = UserPasswordAuthenticator(user, password, client.auth, token_store=InMemoryTokenStore())
client.authenticator = login
me = client.auth.get_current_user()
print("me", me.username, me.sub, me.roles)

first = client.auth.login_with_password(user, password)
second = client.auth.refresh_access_token(first.refresh_token)
assert second.access_token != first.access_token and second.refresh_token != first.refresh_token
print("refreshed")

providers = client.auth.list_public_identity_providers()
print("providers", [provider.alias for provider in providers.providers])
headers = client.auth.forward_auth_headers()
print("validated", headers.user_id, headers.user_name)

made = client.auth.create_pat(PATCreate(name="martlet-sdk", ttl_seconds=3600))
print("made", made.pat.name, made.pat.ttl_seconds)
print("listed", [pat.name for pat in client.auth.list_pats().pats])
personal = connect(ApiKeyAuthenticator(made.token))
print("with pat", personal.auth.get_current_user().username)
client.auth.revoke_pat(made.pat.jti)
print("revoked", client.auth.list_pats().pats[0].revoked)
try:
    personal.auth.get_current_user()
except AuthenticationError as error:
    print("pat refused", error.status_code)

print("deployments", len(client.serving.list_deployments()))
found = client.tools.discover_servers()
print("tools", found.total, [(tool.name, tool.status) for tool in found.servers])
print(client.auth.logout().message.lower())
try:
    client.auth.login_with_password(user, "not the password")
except AuthenticationError as error:
    print("wrong", error.status_code)
try:
    connect(url=base.removesuffix("/api")).auth.health()
except NonAPIResponseError:
    print("page refused")
