import Glibc
import LoopKit

/// What a child reads.
public final class InputPipe: Sendable {
    private let descriptor: LoopDescriptor
    private let turn = Turn()

    init(_ descriptor: LoopDescriptor) {
        self.descriptor = descriptor
    }

    /// Writes all of `bytes`, waiting while the child is behind; writes of several tasks follow one another whole.
    ///
    /// Throws `.inputClosed` when the child reads no more, and `.timedOut` when it has not taken all by the deadline,
    /// which is looked at from the moment that the writes before are done. When a write is cancelled or late half way
    /// the input is closed, since what followed would be read as the rest of it.
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

    /// Closes the input: the child meets its end after what was written.
    public func close() {
        descriptor.close()
    }

    private static var closed: ProcessError {
        ProcessError(.inputClosed, "the child process reads no more input")
    }

    private static var late: ProcessError {
        ProcessError(.timedOut, "the child process did not read its input in time")
    }

    private nonisolated(nonsending) func writeOnce(
        _ bytes: [UInt8], from start: Int, _ deadline: ContinuousClock.Instant?
    ) async throws -> Int {
        while true {
            // Also where a child reads so steadily that there is never a wait.
            if let deadline, deadline <= .now { throw Self.late }
            let attempt = descriptor.attempt(.writable) { descriptor in
                unsafe bytes.withUnsafeBytes { buffer in
                    let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[start...])
                    return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
            }
            switch attempt {
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
}
