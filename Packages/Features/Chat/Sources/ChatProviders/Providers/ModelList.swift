import Capabilities
import HTTPClient
import HTTPCore
import JSON
import Synchronization

/// The models of one provider, kept in memory for an hour.
final class ModelList: Sendable {
    /// One page of a list, and what the next one begins after.
    typealias Page = (models: [ModelDescription], next: String?)

    private let now: @Sendable () -> Timestamp
    private let kept = Mutex<(models: [ModelDescription], time: Timestamp)?>(nil)

    static let lifetime: Duration = .seconds(3600)
    private static let mostPages = 20

    init(now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    /// What is kept, or what `load` gives.
    func models(_ load: () async throws -> [ModelDescription]) async throws -> [ModelDescription] {
        if let fresh { return fresh }
        let models = try await load()
        let time = now()
        kept.withLock { $0 = (models, time) }
        return models
    }

    /// What is known without asking anybody.
    var fresh: [ModelDescription]? {
        let time = now()
        return kept.withLock { kept in
            guard let kept, time - kept.time < Self.lifetime, kept.time <= time else { return nil }
            return kept.models
        }
    }

    /// All pages of a list.
    static func load(
        _ url: HTTPURL, from access: ServerAccess, _ read: ([UInt8]) throws -> Page
    ) async throws -> [ModelDescription] {
        var models: [ModelDescription] = []
        var next: String?
        for _ in 0..<mostPages {
            let address = try next.map { try url.adding("after_id", $0) } ?? url
            let response = try await access.list(address)
            let page = try access.reading { try read(response.body) }
            models += page.models
            guard let following = page.next, following != next, !page.models.isEmpty else { break }
            next = following
        }
        return models
    }
}
