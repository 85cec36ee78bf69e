import Capabilities
import HTTPCore

extension HTTPURL {
    /// Refuses a server that the caller of the present action may not speak to.
    ///
    /// - Parameter socket: the Unix socket by which it is reached, which is a file and no server of the network.
    func checkPermission(socket: String? = nil) throws(HTTPError) {
        let request = socket.map { GrantRequest.path($0, .own) } ?? .host(host, port: port)
        guard case .deny(let rule, let mend) = Caller.current?.grant.decide(request) else { return }
        throw HTTPError(.notPermitted, "\(rule); \(mend)", mayHaveBeenSent: false, server: server)
    }
}
