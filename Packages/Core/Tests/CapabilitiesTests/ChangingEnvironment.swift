import Synchronization

/// An environment whose only variable counts how often it was read.
final class ChangingEnvironment: Sendable {
    private let count = Mutex(0)

    var reads: Int { count.withLock { $0 } }

    func read() -> [String: String] {
        count.withLock { count in
            count += 1
            return ["OPENAI_API_KEY": String(count)]
        }
    }
}
