import Glibc
import HTTPCore
import LoopKit
import Synchronization

extension Connection {
    /// Agrees on keys with the client; false when that fails or takes too long.
    nonisolated(nonsending) func handshake() async throws -> Bool {
        let deadline = ContinuousClock.now + core.limits.head
        while true {
            let moved = state.withLock { state -> Transport.Moved in
                guard case .tls(let channel) = state.transport else { return .bytes(0) }
                return descriptor.withDescriptor { _, ready in channel.handshake(&ready) } ?? .ended
            }
            switch moved {
            case .bytes: return true
            case .ended, .failed: return false
            case .wait(let direction):
                guard try await heed(direction, until: deadline) == .ready else { return false }
                if state.withLock({ $0.isHungUp }) { return false }
            }
        }
    }

    /// Tells the client that nothing more comes.
    func finish() {
        state.withLock { state in
            _ = descriptor.withDescriptor { descriptor, _ in state.transport.finish(descriptor) }
        }
    }
}

// MARK: Going

extension Connection {
    // Not inlined, because the buffer would become part of the task's memory.
    @inline(never)
    private func receiveAndForget() -> Transport.Moved {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
            state.withLock { state in unsafe receive(&state, buffer) }
        }
    }

    /// Lets the client read the last answer before the connection goes: closing while it still sends would make its
    /// system throw the answer away.
    nonisolated(nonsending) func linger() async {
        let deadline = ContinuousClock.now + .seconds(1)
        finish()
        var left = 4 << 20
        while left > 0 {
            switch receiveAndForget() {
            case .bytes(let count): left -= count
            case .ended, .failed: return
            case .wait(let direction):
                guard await descriptor.readyThroughCancellation(direction, until: deadline) == .ready else { return }
            }
        }
    }
}

// MARK: Other protocols

extension Connection {
    /// Receives for whoever took the connection over with the request of that number. `body` is given the call that
    /// receives into a buffer, and gives back what that gave.
    func receive(
        of number: Int, _ body: ((UnsafeMutableRawBufferPointer) throws -> Int) throws -> Int
    ) -> Transport.Moved {
        state.withLock { state in
            guard state.exchange.number == number else { return .ended }
            var moved = Transport.Moved.failed
            do {
                _ = try unsafe body { buffer in
                    moved = unsafe receive(&state, buffer)
                    if case .bytes(let count) = moved { return count }
                    return 0
                }
            } catch {
                return .failed
            }
            return moved
        }
    }
}
