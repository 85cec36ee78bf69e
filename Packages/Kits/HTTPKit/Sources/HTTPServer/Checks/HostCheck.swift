import HTTPCore

/// Which names a client may call this server by.
///
/// A web page of somebody else can have its own name point to this machine, and then its scripts may talk to us as if
/// we were its server. The browser still sends the name, so a name that is not ours is refused.
struct HostCheck: Sendable {
    private let names: Set<String>

    /// The names of the loopback, the address that the server listens at, and what was allowed besides.
    init(address: String?, allowed: Set<String>) {
        var names: Set<String> = ["localhost", "127.0.0.1", "::1"]
        if let address { names.insert(address.lowercased()) }
        for name in allowed { names.insert(HostName.withoutPort(name)) }
        self.names = names
    }

    func allows(_ host: String?) -> Bool {
        // Only HTTP/1.0 may leave it out, which no browser speaks.
        guard let host else { return true }
        return names.contains(HostName.withoutPort(host))
    }
}
