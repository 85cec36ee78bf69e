import LoopKit

/// Calls `changed` whenever this machine's way out changes or it wakes up, until the task is cancelled (row D-04); for
/// `ReconnectingConnection`. Where the system does not tell, it returns.
@Sendable public func systemNetwork(_ changed: @escaping @Sendable () -> Void) async {
    do {
        let monitor = try await NetworkMonitor.start(loop: EventLoop())
        // Containers come and go all day, and no connection is worse for it.
        for try await change in monitor where monitor.concernsWayOut(change) { changed() }
    } catch {
        // Without word from the system the pings find out, only later.
    }
}
