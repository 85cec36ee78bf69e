"""An MCP server with the sign-in server of the reference SDK of either era, which grants everything at once.

It prints its port as the first line. Users sign in without a question, so that any program that follows redirects is their
browser. Beside the addresses of the SDK there are some for tests: /expire makes all access tokens expire, /forget drops
all tokens, /less lets users grant only one of the two scopes, /all both, and /seen lists what the sign-in server was asked for.
"""
import secrets
import socket
import time

import uvicorn
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.responses import JSONResponse

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer


class KnownClient(OAuthClientInformationFull):
    """A client that was registered by hand. Its port on the loopback may be any (RFC 8252, section 7.3)."""

    def validate_redirect_uri(self, redirect_uri):
        assert redirect_uri is not None and redirect_uri.host == "127.0.0.1" and redirect_uri.path == "/callback"
        return redirect_uri


class Provider:
    """Keeps everything in memory. A refresh token is valid once."""

    def __init__(self):
        self.clients = {"known": KnownClient(
            client_id="known", client_secret="s3cret/of ours",
            token_endpoint_auth_method="client_secret_post",
            redirect_uris=["http://127.0.0.1/callback"], scope="use more")}
        self.codes, self.access, self.refresh, self.resources, self.seen = {}, {}, {}, {}, []
        self.granted = ["use", "more"]

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client):
        self.seen.append(f"register {client.token_endpoint_auth_method}")
        self.clients[client.client_id] = client

    async def authorize(self, client, params):
        self.seen.append(f"authorize {' '.join(params.scopes or [])}")
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24), scopes=params.scopes or [], expires_at=time.time() + 60,
            client_id=client.client_id, code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource)
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self.issue(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        self.seen.append("refresh")
        del self.refresh[refresh_token.token]
        return self.issue(client, scopes, self.resources[refresh_token.token])

    def issue(self, client, scopes, resource):
        scopes = [scope for scope in scopes if scope in self.granted]
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=int(time.time()) + 3600,
            resource=resource)
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes)
        self.resources[refresh] = resource
        return OAuthToken(
            access_token=access, token_type="Bearer", expires_in=3600, scope=" ".join(scopes), refresh_token=refresh)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
provider = Provider()
settings = AuthSettings(
    issuer_url=origin, resource_server_url=f"{origin}/mcp", required_scopes=["use", "more"], validate_token_resource=True,
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["use", "more"]),
    revocation_options=RevocationOptions(enabled=True))
server = MCPServer("protected", auth=settings, auth_server_provider=provider)


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def route(path, change):
    """An address that only tests use."""

    async def answer(request):
        return JSONResponse(change())

    server.custom_route(path, methods=["GET"])(answer)


def expire():
    for token in provider.access.values():
        token.expires_at = int(time.time()) - 10
    return len(provider.access)


route("/expire", expire)
route("/forget", lambda: [provider.access.clear(), provider.refresh.clear()])
route("/less", lambda: setattr(provider, "granted", ["use"]))
route("/all", lambda: setattr(provider, "granted", ["use", "more"]))
route("/seen", lambda: provider.seen)

print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning", lifespan="on")).run(sockets=[listener])
