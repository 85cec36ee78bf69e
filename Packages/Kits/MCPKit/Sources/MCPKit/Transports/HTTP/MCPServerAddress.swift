public import Capabilities
public import HTTPClient
public import HTTPCore
import RPCKit

/// A server that is reached by HTTP, in whatever way it knows.
///
///     let address = MCPServerAddress(try HTTPURL("https://tools.example/mcp"))
///     let client = address.client(of: "tools", by: http, as: MCPIdentity(name: "martlet", version: "1"))
///     let tools = try await client.whileRunning { try await client.tools() }
///
/// The modern era is tried first, then the handshake of the legacy one, and then the older transport.
public struct MCPServerAddress: Sendable {
    /// The address for messages, or for the stream of the older transport.
    public var url: HTTPURL
    /// What every request carries, such as the credential from a configuration. It is sent to the origin of the address
    /// only.
    public var headers: HTTPHeaders
    /// How the server is known to carry messages, so that it is asked in this way only; nil if it is not known.
    public var form: MCPHTTPTransport.Form?
    /// How much a server may send, and how long it may take.
    public var limits: MCPHTTPLimits

    /// A server with the limits of the program.
    public init(
        _ url: HTTPURL, headers: HTTPHeaders = [:], form: MCPHTTPTransport.Form? = nil,
        limits: MCPHTTPLimits = MCPHTTPLimits()
    ) {
        self.url = url
        self.headers = headers
        self.form = form
        self.limits = limits
    }

    /// Carries the messages of one client.
    ///
    /// - Parameters:
    ///   - http: has the pool of connections, and judges whom to trust.
    ///   - signIn: signs the requests and signs in when the server wants that; nil for a server that gets only `headers`.
    public func transport(by http: HTTPClient, signIn: (any ResourceSignIn)? = nil) -> MCPHTTPTransport {
        MCPHTTPTransport(
            HTTPCaller(client: http, url: url, headers: headers, signIn: signIn, limits: limits), form: form)
    }

    /// A client of the server that is not running yet.
    public func client(
        of name: String, by http: HTTPClient, as identity: MCPIdentity,
        handler: any MCPClientHandler = NobodyHandler(), limits: MCPClient.Limits = MCPClient.Limits(),
        knowing version: MCPVersion? = nil, signIn: (any ResourceSignIn)? = nil
    ) -> MCPClient {
        MCPClient(
            of: name, over: transport(by: http, signIn: signIn), as: identity, handler: handler, limits: limits,
            knowing: version)
    }
}
