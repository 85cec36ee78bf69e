import Capabilities
import HTTPCore

extension HTTPURL {
    /// Refuses a server that the caller of the present action may not speak to.
    func checkPermission() throws(HTTPError) {
        guard case .deny(let rule, let mend) = Caller.current?.grant.decide(.host(host, port: port)) else { return }
        throw HTTPError(.notPermitted, "\(rule); \(mend)", mayHaveBeenSent: false, server: server)
    }
}
