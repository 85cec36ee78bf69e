import Capabilities
import Glibc
import HTTPCore
import Synchronization

/// The body of one attempt, open for the engine to read.
enum Upload: Sendable {
    case none
    case bytes([UInt8])
    case file(BodyFile)
    case pipe(UploadPipe)

    /// The length, if known.
    var length: Int? {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        case .pipe(let pipe): pipe.length
        }
    }

    /// Opens a request's body. A task starts reading a stream here; it ends with the pipe.
    init(_ body: HTTPBody) throws(HTTPError) {
        switch body {
        case .none: self = .none
        case .bytes(let bytes): self = .bytes(bytes)
        case .file(let path, let range, let name):
            self = .file(try BodyFile(path: path, range: range, naming: name ?? path))
        case .stream(let length, let sequence): self = .pipe(UploadPipe(length: length, reading: sequence))
        }
    }
}

/// Delivers the bytes of a sequence to the engine, and pauses the sequence while the server does not accept them.
final class UploadPipe: Sendable {
    /// The result when the engine requests bytes.
    enum Answer {
        case bytes(Int)
        /// No bytes yet; the engine is notified when there are some.
        case empty
        case end
        case failed(any Error)
    }

    private struct State {
        var chunks: [[UInt8]] = []
        var first = 0
        var offset = 0
        var buffered = 0
        var end: Result<Void, any Error>?
        var isClosed = false
        /// The engine found no bytes and wants to be notified.
        var isAwaited = false
        var tell: (@Sendable () -> Void)?
        var writer: Suspension?
        var task: Task<Void, Never>?
    }

    let length: Int?
    private let state = Mutex(State())
    private static let limit = 256 << 10

    /// Starts reading the sequence.
    init(length: Int?, reading sequence: any AsyncSequence<[UInt8], any Error> & Sendable) {
        self.length = length
        // The pipe owns the task: it ends with the sequence, or `close` cancels it at the end of the attempt.
        let task = Task { await self.fill(from: sequence) }
        state.withLock { $0.task = task }
    }

    /// Sets the callback for bytes that arrive after there were none.
    func onBytes(_ tell: @escaping @Sendable () -> Void) {
        state.withLock { $0.tell = tell }
    }

    /// Stops reading the sequence, even before its end.
    func close() {
        let (task, writer) = state.withLock { state in
            state.isClosed = true
            state.tell = nil
            state.chunks = []
            return (state.task.take(), state.writer.take())
        }
        task?.cancel()
        writer?.resume()
    }

    /// Copies the available bytes; only the engine calls this.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Answer {
        let (answer, writer) = state.withLock { state -> (Answer, Suspension?) in
            var count = 0
            while count < buffer.count, state.first < state.chunks.count {
                let chunk = state.chunks[state.first]
                let part = min(buffer.count - count, chunk.count - state.offset)
                unsafe chunk.withUnsafeBytes { bytes in
                    let source = unsafe UnsafeRawBufferPointer(rebasing: bytes[state.offset..<state.offset + part])
                    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + part])
                        .copyMemory(from: source)
                }
                count += part
                state.offset += part
                if state.offset == chunk.count {
                    state.chunks[state.first] = []
                    state.first += 1
                    state.offset = 0
                }
            }
            if state.first == state.chunks.count {
                state.chunks.removeAll(keepingCapacity: true)
                state.first = 0
            } else if state.first > 64, state.first * 2 > state.chunks.count {
                state.chunks.removeFirst(state.first)
                state.first = 0
            }
            state.buffered -= count
            let writer = state.buffered < Self.limit ? state.writer.take() : nil
            if count > 0 { return (.bytes(count), writer) }
            switch state.end {
            case .success: return (.end, writer)
            case .failure(let error): return (.failed(error), writer)
            case nil:
                state.isAwaited = true
                return (.empty, writer)
            }
        }
        writer?.resume()
        return answer
    }

    private func fill(from sequence: any AsyncSequence<[UInt8], any Error> & Sendable) async {
        do {
            for try await chunk in sequence {
                guard await push(chunk) else { return }
            }
            end(.success(()))
        } catch {
            end(.failure(error))
        }
    }

    /// False if the bytes are no longer needed.
    private func push(_ chunk: [UInt8]) async -> Bool {
        guard !chunk.isEmpty else { return !state.withLock(\.isClosed) }
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isClosed else { return nil }
            state.chunks.append(chunk)
            state.buffered += chunk.count
            defer { state.isAwaited = false }
            return state.isAwaited ? state.tell : nil
        }
        tell?()
        await Suspension.wait { task in
            state.withLock { state in
                guard !state.isClosed, state.buffered >= Self.limit else { return false }
                state.writer = task
                return true
            }
        }
        return !state.withLock(\.isClosed)
    }

    private func end(_ result: Result<Void, any Error>) {
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            state.end = result
            defer { state.isAwaited = false }
            return state.isAwaited ? state.tell : nil
        }
        tell?()
    }
}

/// An open file, or part of one, that is sent as a body.
final class BodyFile: Sendable {
    /// The number of bytes to send.
    let count: Int
    /// The name in error messages.
    private let name: String
    private let start: Int
    private let descriptor: Int32

    init(path: String, range: Range<Int>?, naming name: String) throws(HTTPError) {
        // O_NONBLOCK keeps a FIFO from blocking the caller; regular files ignore it.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(name, SystemError(errno).description.lowercased()) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.failure(name, "it is not a regular file; send it as a stream instead")
        }
        let size = Int(status.st_size)
        if let range, range.lowerBound < 0 || range.upperBound > size {
            close(descriptor)
            throw Self.failure(
                name, "it has only \(size) bytes, so the range \(range.lowerBound) to \(range.upperBound) is not in it")
        }
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        self.name = name
        self.descriptor = descriptor
        start = range?.lowerBound ?? 0
        count = range?.count ?? size
    }

    deinit { close(descriptor) }

    /// Reads at an offset within the part to send.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(HTTPError) -> Int {
        let wanted = min(buffer.count, count - offset)
        guard wanted > 0 else { return 0 }
        while true {
            let got = unsafe pread(descriptor, buffer.baseAddress, wanted, start + offset)
            if got > 0 { return got }
            if got == 0 { throw Self.failure(name, "it became shorter while it was sent") }
            guard errno == EINTR else { throw Self.failure(name, SystemError(errno).description.lowercased()) }
        }
    }

    private static func failure(_ name: String, _ reason: String) -> HTTPError {
        HTTPError(.body, "cannot send \(name): \(reason)", mayHaveBeenSent: false)
    }
}
