import Capabilities
import HTTPClient
import HTTPCore
import Synchronization

/// Tells gateways that an answer is not wanted any more.
///
/// Whoever stops must not wait for that, and it must go out although their task is cancelled. So these tasks live here,
/// two seconds at most, and `close` waits for them.
final class Farewells: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    private static let limit: Duration = .seconds(2)

    /// Ends a session, and with it what runs in it.
    func stop(_ session: String, at chat: HTTPURL, through access: ServerAccess) {
        state.withLock { state in
            let number = state.next
            state.next += 1
            // Owned by this object and awaited in `close`.
            state.tasks[number] = Task {
                await Self.end(session, chat, access)
                self.forget(number)
            }
        }
    }

    /// Returns when all has been said.
    func close() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    private func forget(_ number: Int) {
        state.withLock { _ = $0.tasks.removeValue(forKey: number) }
    }

    private static func end(_ session: String, _ chat: HTTPURL, _ access: ServerAccess) async {
        // What is no plain id would change the path.
        guard session.isPathWord else { return }
        do {
            var request = HTTPRequest(.delete, try chat.below("/\(session)"), headers: access.headers)
            request.limits.total = limit
            request.limits.firstByte = limit
            request.limits.connect = limit
            request.redirects = .none
            request.retry = .none
            _ = try await access.credential.send(request, with: access.client)
        } catch {
            // The connection of the answer is closed already, which ends it at most servers; nobody waits for more.
        }
    }
}
