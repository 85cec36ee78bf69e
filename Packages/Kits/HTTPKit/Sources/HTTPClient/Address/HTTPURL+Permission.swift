import Capabilities
import HTTPCore

extension HTTPURL {
    /// Refuses a server that may not be spoken to.
    ///
    /// - Parameter socket: the Unix socket by which it is reached, which is a file and no server of the network.
    func checkPermission(socket: String? = nil, within grant: Grant) throws(HTTPError) {
        let request = socket.map { GrantRequest.path($0, .own) } ?? .host(host, port: port)
        if let refusal = grant.decide(request).refusal(by: self) { throw refusal }
    }

    /// Refuses the address to which the name of the server has led, before anything is sent there.
    func checkPermission(at peer: ConnectedPeer, within grant: Grant) throws(HTTPError) {
        let request = GrantRequest.address(peer.address, port: peer.port, host: host)
        if let refusal = grant.decide(request).refusal(by: self) { throw refusal }
    }
}

/// Who is at the other end of a connection, as the system knows it.
struct ConnectedPeer: Sendable, Hashable {
    let address: String
    let port: Int
}

extension GrantDecision {
    fileprivate func refusal(by url: HTTPURL) -> HTTPError? {
        guard case .deny(let rule, let mend) = self else { return nil }
        return HTTPError(.notPermitted, "\(rule); \(mend)", mayHaveBeenSent: false, server: url.server)
    }
}
