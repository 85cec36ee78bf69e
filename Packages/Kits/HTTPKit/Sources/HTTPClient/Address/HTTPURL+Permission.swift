import Capabilities
import HTTPCore

extension HTTPURL {
    /// Refuses a server that the run which the present task belongs to may not speak to.
    func checkPermission() throws(HTTPError) {
        guard let permissions = RunPermissions.current, !permissions.allows(host: host, port: port) else { return }
        throw HTTPError(
            .notPermitted, "the bundle does not permit to speak to \(server); add it to permissions.hosts",
            mayHaveBeenSent: false, server: server)
    }
}
