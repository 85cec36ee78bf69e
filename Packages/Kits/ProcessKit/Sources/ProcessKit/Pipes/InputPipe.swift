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
    /// Throws `.inputClosed` when the child reads no more. When a write is cancelled half way the input is closed,
    /// since what followed would be read as the rest of it.
    public nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
        try await turn.take()
        defer { turn.pass() }
        var written = 0
        do {
            while written < bytes.count { written += try await writeOnce(bytes, from: written) }
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

    private nonisolated(nonsending) func writeOnce(_ bytes: [UInt8], from start: Int) async throws -> Int {
        while true {
            let attempt = descriptor.attempt(.writable) { descriptor in
                unsafe bytes.withUnsafeBytes { buffer in
                    let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[start...])
                    return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
            }
            switch attempt {
            case .moved(let count): return count
            case .wouldBlock: guard try await descriptor.writable() == .ready else { throw Self.closed }
            case .failed(EPIPE), .closed: throw Self.closed
            case .failed(let number): throw ProcessError.system("write to a child process", errno: number)
            }
        }
    }
}
