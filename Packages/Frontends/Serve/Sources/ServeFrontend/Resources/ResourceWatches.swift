import Capabilities
import HTTPServer
import JSON
import MCPKit
import Registry
import Screens
import Synchronization

/// Keeps the screens and conversations open that hosts want to be told about, and tells when they change.
///
/// Hosts that watch the same share one, if they have the same rights.
final class ResourceWatches: Sendable {
    /// What is watched, and with whose rights.
    struct Key: Sendable, Hashable {
        let address: String
        let principal: Principal?
    }

    private struct State {
        /// How often each is wanted.
        var wanted: [Key: Int] = [:]
        var running: Set<Key> = []
    }

    /// Raised when something is wanted, or not any more, or watched.
    let news = Signal()
    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: how many are watched at once.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of those that are watched.
    var count: Int { state.withLock { $0.wanted.count } }

    /// The number of those that are being watched at the moment, which may be a little behind.
    var running: Int { state.withLock { $0.running.count } }

    /// - Throws: `ServeFailure` if too much is watched.
    func begin(_ key: Key) throws(ServeFailure) {
        let isKept = state.withLock { state in
            guard state.wanted[key] != nil || state.wanted.count < limit else { return false }
            state.wanted[key, default: 0] += 1
            return true
        }
        guard isKept else {
            throw ServeFailure(
                .watches, "\(limit) screens and conversations are watched already, which is what serve.screens allows",
                exit: .failed)
        }
        news.raise()
    }

    func end(_ key: Key) {
        state.withLock { state in
            guard let count = state.wanted[key] else { return }
            state.wanted[key] = count > 1 ? count - 1 : nil
        }
        news.raise()
    }

    /// Watches what is wanted until the task is cancelled.
    ///
    /// - Parameter watch: watches one until it is cancelled, or cannot be watched any more.
    func run(_ watch: @escaping @Sendable (Key) async -> Void) async {
        await withDiscardingTaskGroup { group in
            while true {
                let seen = news.count
                let begun = state.withLock { state in
                    let begun = state.wanted.keys.filter { !state.running.contains($0) }
                    state.running.formUnion(begun)
                    return begun
                }
                if !begun.isEmpty { news.raise() }
                for key in begun { group.addTask { await self.run(key, watch) } }
                do { try await news.wait(beyond: seen) } catch { return group.cancelAll() }
            }
        }
    }

    /// Watches one for as long as it is wanted.
    private func run(_ key: Key, _ watch: @escaping @Sendable (Key) async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watch(key) }
            while !Task.isCancelled {
                let seen = news.count
                if state.withLock({ $0.wanted[key] == nil }) { break }
                do { try await news.wait(beyond: seen) } catch { break }
            }
            group.cancelAll()
        }
        state.withLock { _ = $0.running.remove(key) }
        // It may be wanted again by now.
        news.raise()
    }
}

/// Watches one resource.
struct ResourceWatch: Sendable {
    let session: WorkbenchSession
    let caller: Caller
    let clock: any Clock<Duration>

    /// How long changes are collected before the next is told, so that a log that grows does not flood the host.
    private static let pause = Duration.milliseconds(100)
    /// How often conversations are looked at, because other programs change them too.
    private static let interval = Duration.seconds(2)

    /// Calls a function for each change until the task is cancelled or the rights end.
    func run(_ address: ResourceAddress, _ tell: @escaping @Sendable () -> Void) async throws {
        switch address {
        case .screen(let id, let given):
            let arguments = try session.newest.registry.screens.find(id).arguments(given)
            try await session.open(id, arguments, as: caller, output: SilentOutput()) { view in
                var last: JSON?
                for try await state in view.states {
                    let shown: JSON
                    switch state {
                    case .loading: continue
                    case .ready(let block): shown = block.json
                    case .failed(let failure, _): shown = failure.report
                    }
                    guard shown != last else { continue }
                    if exchange(&last, with: shown) != nil { tell() }
                    try await ContinuousClock().sleep(for: Self.pause)
                }
            }
        case .conversation(let id):
            var last: JSON?
            while true {
                let now = try await session.perform(
                    ConversationActions.one, ["conversation": .string(id)], as: caller, output: SilentOutput()
                ).json
                if let before = exchange(&last, with: now), before != now { tell() }
                try await clock.sleep(for: Self.interval)
            }
        }
    }
}
