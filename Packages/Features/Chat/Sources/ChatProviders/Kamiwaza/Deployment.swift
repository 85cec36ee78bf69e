import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// A model that a Kamiwaza platform serves.
struct Deployment: Sendable, Hashable {
    let id: String
    /// What the model is called.
    let model: String
    /// What the engine wants as the name of the model, where the platform says so: local engines reject the name of the
    /// repository.
    let canonical: String?
    let engine: String?
    let deployed: Timestamp?
    let accessPath: String?
    let port: Int?

    /// Nil for what is not ready: it and one of its instances have to be deployed.
    init?(active json: JSON) {
        guard let id = Self.word(json["id"]), Self.isDeployed(json["status"]),
            let instances = json["instances"]?.array, instances.contains(where: { Self.isDeployed($0["status"]) })
        else { return nil }
        self.id = id
        model = Self.word(json["m_name"]) ?? id
        canonical = Self.word(json["canonical_model_id"])
        engine = Self.word(json["engine_name"]) ?? Self.word(json["engine"])
        let times = [json["deployed_at"]] + instances.map { $0["deployed_at"] } + [json["created_at"]]
        deployed = times.lazy.compactMap { $0?.string.flatMap(Timestamp.init(iso8601:)) }.first
        accessPath = Self.word(json["access_path"])
        port = json["lb_port"]?.int
    }

    /// Where it is asked: at the path that the platform names, else at a port of its host, else at its place among all
    /// that runs there.
    ///
    /// - Parameter base: the base of the platform's API, which ends in `/api`.
    func endpoint(at base: HTTPURL) throws -> HTTPURL {
        var origin = base.path[...]
        while origin.hasSuffix("/") { origin = origin.dropLast() }
        if origin.hasSuffix("/api") { origin = origin.dropLast(4) }
        if let accessPath {
            // Set as a path and never as text behind the host, which it could otherwise change.
            let path = accessPath.drop { $0 == "/" }
            return try base.resolving("\(origin)/\(path)").versioned()
        }
        if let port, port != 0, port != 443, (1...65535).contains(port) {
            return try HTTPURL("\(base.scheme.rawValue)://\(base.bracketedHost):\(port)/v1")
        }
        return try base.resolving("\(origin)/runtime/models/\(id)").versioned()
    }

    private static func isDeployed(_ status: JSON?) -> Bool { status?.string?.uppercased() == "DEPLOYED" }

    private static func word(_ json: JSON?) -> String? {
        guard let text = json?.string ?? json?.int.map(String.init), !text.isEmpty else { return nil }
        return text
    }
}

extension [Deployment] {
    /// By which it is asked for: the model's name, with the id of the deployment where two have the same.
    func name(of deployment: Deployment) -> String {
        let isShared = count { $0.model == deployment.model } > 1
        return isShared ? "\(deployment.model)@\(deployment.id)" : deployment.model
    }

    /// The one that a name means; an empty one leaves the choice open.
    func named(_ name: String) -> Deployment? {
        name.isEmpty
            ? first
            : first { $0.id == name } ?? first { $0.model == name } ?? first { $0.canonical == name }
                ?? first { self.name(of: $0) == name }
    }

    /// The last used one, and then the oldest ones first.
    func ordered(last: String?) -> [Deployment] {
        // The order of those that were deployed at the same moment is by id, so that it does not change.
        let sorted = sorted { left, right in
            switch (left.deployed, right.deployed) {
            case (let left?, let right?) where left != right: left < right
            case (_?, nil): true
            case (nil, _?): false
            default: left.id < right.id
            }
        }
        guard let last, let used = sorted.named(last), !last.isEmpty else { return sorted }
        return [used] + sorted.filter { $0.id != used.id }
    }
}
