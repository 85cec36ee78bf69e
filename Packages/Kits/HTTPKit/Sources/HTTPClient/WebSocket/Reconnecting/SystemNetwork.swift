import LoopKit

/// Calls `changed` whenever this machine's network changes or it wakes up, until the task is cancelled (row D-04); for
/// `ReconnectingConnection`. Where the system does not tell, it returns.
@Sendable public func systemNetwork(_ changed: @escaping @Sendable () -> Void) async {
    do {
        for try await _ in try await NetworkMonitor.start(loop: EventLoop()) { changed() }
    } catch {
        // Without word from the system the pings find out, only later.
    }
}
