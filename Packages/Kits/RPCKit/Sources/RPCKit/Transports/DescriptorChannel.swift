import Capabilities
import Glibc
public import LoopKit

/// Two descriptors, or twice the same socket.
public final class DescriptorChannel: ByteChannel {
    /// One direction.
    private enum End {
        /// Non-blocking by its own flag.
        case watched(LoopDescriptor)
        /// A socket whose description others share, so that every call must ask not to block by itself.
        case sharedSocket(LoopDescriptor)
        /// A regular file, which is always ready.
        case file(Int32)

        func close() {
            if case .watched(let descriptor) = self { descriptor.close() }
            if case .sharedSocket(let descriptor) = self { descriptor.close() }
        }
    }

    private let input: End
    private let output: End

    private static let piece = 1 << 16

    /// Reads from one descriptor and writes to the other; both are closed with the channel.
    public init(reading input: LoopDescriptor, writing output: LoopDescriptor) {
        self.input = .watched(input)
        self.output = .watched(output)
    }

    /// The standard input and output of this process, or other descriptors that it shares with the program that started
    /// it.
    ///
    /// Their descriptions stay as they are: a flag set on one of them would also hold for the shell, whose next command
    /// would then fail to read.
    public init(sharing input: Int32 = 0, and output: Int32 = 1, loop: EventLoop) throws(LoopError) {
        self.input = try Self.end(input, O_RDONLY, loop)
        self.output = try Self.end(output, O_WRONLY, loop)
    }

    private static func end(_ descriptor: Int32, _ access: Int32, _ loop: EventLoop) throws(LoopError) -> End {
        // A pipe or terminal that is opened anew has a description of its own.
        let opened = unsafe open("/proc/self/fd/\(descriptor)", access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        if opened >= 0 {
            do throws(LoopError) { return .watched(try LoopDescriptor(owning: opened, loop: loop)) } catch {
                guard error.kind == .notWatchable else { throw error }
                return .file(descriptor)
            }
        }
        // Sockets cannot be opened.
        do throws(LoopError) { return .sharedSocket(try LoopDescriptor(borrowing: descriptor, loop: loop)) } catch {
            guard error.kind == .notWatchable else { throw error }
            return .file(descriptor)
        }
    }

    public func read() async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            let attempt: LoopDescriptor.Attempt
            switch input {
            case .watched(let descriptor):
                attempt = descriptor.attempt(.readable) { file in
                    unsafe Self.fill(&bytes) { unsafe Glibc.read(file, $0, $1) }
                }
                // The room is not kept while nothing comes.
                if attempt == .wouldBlock { bytes = [] }
                if attempt == .wouldBlock, try await descriptor.readable() == .ready { continue }
            case .sharedSocket(let descriptor):
                attempt = descriptor.attempt(.readable) { file in
                    unsafe Self.fill(&bytes) { unsafe recv(file, $0, $1, Int32(MSG_DONTWAIT)) }
                }
                // The room is not kept while nothing comes.
                if attempt == .wouldBlock { bytes = [] }
                if attempt == .wouldBlock, try await descriptor.readable() == .ready { continue }
            case .file(let file):
                let count = unsafe Self.fill(&bytes) { unsafe Glibc.read(file, $0, $1) }
                attempt = count < 0 ? .failed(errno) : .moved(count)
            }
            switch attempt {
            case .moved(let count): return count > 0 ? bytes : nil
            case .wouldBlock, .closed, .failed(ECONNRESET): return nil
            case .failed(let number): throw RPCFailure(.closed, "reading failed: \(SystemError(number))")
            }
        }
    }

    private static func fill(
        _ bytes: inout [UInt8], _ read: (UnsafeMutableRawPointer?, Int) -> Int
    ) -> Int {
        var result = 0
        bytes.append(addingCapacity: piece) { (free: inout OutputSpan<UInt8>) in
            unsafe free.withUnsafeMutableBufferPointer { buffer, filled in
                unsafe result = read(UnsafeMutableRawPointer(buffer.baseAddress), piece)
                filled = max(result, 0)
            }
        }
        return result
    }

    public func writeNow(_ bytes: [UInt8], from start: Int) throws -> Int {
        let attempt = unsafe bytes.withUnsafeBytes { buffer -> LoopDescriptor.Attempt in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[start...])
            switch output {
            case .watched(let descriptor):
                return descriptor.attempt(.writable) { unsafe Glibc.write($0, rest.baseAddress, rest.count) }
            case .sharedSocket(let descriptor):
                let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
                return descriptor.attempt(.writable) { unsafe send($0, rest.baseAddress, rest.count, flags) }
            case .file(let file):
                let count = unsafe Glibc.write(file, rest.baseAddress, rest.count)
                return count < 0 ? .failed(errno) : .moved(count)
            }
        }
        switch attempt {
        case .moved(let count): return count
        case .wouldBlock: return 0
        case .closed, .failed(EPIPE), .failed(ECONNRESET):
            throw RPCFailure(.closed, "the other side no longer reads")
        case .failed(let number): throw RPCFailure(.closed, "writing failed: \(SystemError(number))")
        }
    }

    public func waitUntilWritable() async throws {
        switch output {
        case .watched(let descriptor), .sharedSocket(let descriptor):
            if try await descriptor.writable() == .ready { return }
            throw RPCFailure(.closed, "the other side no longer reads")
        case .file: return
        }
    }

    public func close() {
        input.close()
        output.close()
    }
}

extension DescriptorChannel {
    /// Lets everything that this process still writes to its standard output go nowhere, so that nothing follows the last
    /// message.
    public static func closeStandardOutput() {
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nowhere >= 0 else { return }
        dup2(nowhere, 1)
        Glibc.close(nowhere)
    }
}
