import Synchronization

/// The connections of one kind that are open now.
final class ConnectionSet: Sendable {
    private struct State {
        var open: [UInt64: Connection] = [:]
        var perPeer: [PeerAddress: Int] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Whether one more may come from there, which is counted then.
    func admit(_ peer: PeerAddress, limit: Int, perPeer: Int?) -> UInt64? {
        state.withLock { state in
            guard state.open.count < limit else { return nil }
            if let perPeer {
                guard state.perPeer[peer, default: 0] < perPeer else { return nil }
                state.perPeer[peer, default: 0] += 1
            }
            state.lastID += 1
            return state.lastID
        }
    }

    func add(_ connection: Connection) {
        state.withLock { $0.open[connection.id] = connection }
    }

    func remove(_ connection: Connection) {
        // The last reference may go with it, and that should not happen under the lock.
        let removed = state.withLock { state in state.open.removeValue(forKey: connection.id) }
        _ = removed
    }

    /// Forgets one that was counted for a peer.
    func giveBack(_ peer: PeerAddress) {
        state.withLock { state in
            if let count = state.perPeer[peer] { state.perPeer[peer] = count > 1 ? count - 1 : nil }
        }
    }

    var all: [Connection] { state.withLock { Array($0.open.values) } }
    var count: Int { state.withLock { $0.open.count } }
}
