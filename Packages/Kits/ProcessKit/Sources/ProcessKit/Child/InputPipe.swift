import Glibc
import LoopKit

/// The input of a child.
public final class InputPipe: Sendable {
    private let descriptor: LoopDescriptor
    private let turn = Turn()

    init(_ descriptor: LoopDescriptor) {
        self.descriptor = descriptor
    }

    /// Writes all of `bytes`, waiting while the child is behind. Writes of several tasks are not interleaved.
    ///
    /// Throws `.inputClosed` when the child no longer reads, and `.timedOut` when it has not read everything by the
    /// deadline, which counts once earlier writes are done. If a write is cancelled or late half way, the input is
    /// closed, because later data would be read as the rest of it.
    public nonisolated(nonsending) func write(
        _ bytes: [UInt8], until deadline: ContinuousClock.Instant? = nil
    ) async throws {
        try await turn.take()
        defer { turn.pass() }
        var written = 0
        do {
            while written < bytes.count { written += try await writeOnce(bytes, from: written, deadline) }
        } catch {
            if written > 0 { close() }
            throw error
        }
    }

    /// Writes as many of `bytes` as the child takes at once, from `start` on, and returns how many that were: none if it
    /// is behind. For a caller that keeps the rest, and whose writes nobody else interrupts.
    ///
    /// Throws `.inputClosed` when the child no longer reads.
    public func writeNow(_ bytes: [UInt8], from start: Int = 0) throws(ProcessError) -> Int {
        switch attempt(bytes, from: start) {
        case .moved(let count): return count
        case .wouldBlock: return 0
        case .failed(EPIPE), .closed: throw Self.closed
        case .failed(let number): throw ProcessError.system("write to a child process", errno: number)
        }
    }

    /// Waits until the child may take more. Throws `.inputClosed` when it no longer reads, and `CancellationError`.
    public nonisolated(nonsending) func waitUntilWritable() async throws {
        guard try await descriptor.writable() == .ready else { throw Self.closed }
    }

    /// Closes the input: the child reads the end after the written data.
    public func close() {
        descriptor.close()
    }

    private static var closed: ProcessError {
        ProcessError(.inputClosed, "the child process no longer reads its input")
    }

    private static var late: ProcessError {
        ProcessError(.timedOut, "the child process did not read its input in time")
    }

    private nonisolated(nonsending) func writeOnce(
        _ bytes: [UInt8], from start: Int, _ deadline: ContinuousClock.Instant?
    ) async throws -> Int {
        while true {
            // Also when the child reads so steadily that there is never a wait.
            if let deadline, deadline <= .now { throw Self.late }
            switch attempt(bytes, from: start) {
            case .moved(let count): return count
            case .wouldBlock:
                switch try await descriptor.writable(until: deadline) {
                case .ready: continue
                case .closed: throw Self.closed
                case .timedOut: throw Self.late
                }
            case .failed(EPIPE), .closed: throw Self.closed
            case .failed(let number): throw ProcessError.system("write to a child process", errno: number)
            }
        }
    }

    private func attempt(_ bytes: [UInt8], from start: Int) -> LoopDescriptor.Attempt {
        descriptor.attempt(.writable) { descriptor in
            unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[start...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
        }
    }
}
