import HTTPClient
import HTTPCore

extension HTTPURL {
    /// The address of something below this one, whose own path is kept.
    func below(_ path: String) throws(HTTPError) -> HTTPURL {
        try resolving(Self.trimmed(self.path) + path)
    }

    /// The base of an API that is known to be at `/v1`, which some people write and others leave out.
    func versioned() throws(HTTPError) -> HTTPURL {
        let path = Self.trimmed(self.path)
        return path.hasSuffix("/v1") ? try resolving(path) : try resolving(path + "/v1")
    }

    /// The same for a server of which less is known: only an address without any path is completed.
    func versionedIfBare() throws(HTTPError) -> HTTPURL {
        path == "/" ? try resolving("/v1") : try resolving(Self.trimmed(path))
    }

    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        return String(path)
    }
}
