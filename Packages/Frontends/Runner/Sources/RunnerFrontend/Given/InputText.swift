import Bundles
import Capabilities
import FileKit
import Glibc
import LoopKit

/// The text of a file of inputs, which may be a pipe as well: `--inputs <(secrets-tool)`, or `-` for standard input.
enum InputText {
    static let standardInput = "-"

    /// All of it. Ends at once when the task is cancelled, whoever holds the other end of the pipe.
    static func read(_ path: String) async throws -> [UInt8] {
        let (texts, continuation) = AsyncStream<Result<[UInt8], BundleFailure>>.makeStream()
        // Nobody knows when a pipe will have something to say. A read cannot be taken back, so that after a cancellation
        // its thread stays until the program ends, which is what it was cancelled for.
        _ = try OwnThread {
            continuation.yield(Result { () throws(BundleFailure) in try readAll(path) })
            continuation.finish()
        }
        for await text in texts { return try text.get() }
        throw CancellationError()
    }

    private static func readAll(_ path: String) throws(BundleFailure) -> [UInt8] {
        let descriptor = path == standardInput ? fcntl(0, F_DUPFD_CLOEXEC, 0) : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw failure(path, "it cannot be read: \(unsafe String(cString: strerror(errno)).lowercased())")
        }
        let file = FileDescriptor(owning: descriptor, path: path == standardInput ? "standard input" : path)
        guard isatty(descriptor) == 0 else { throw failure(path, "a run does not wait for keys; pipe the values in") }
        var text: [UInt8] = []
        while true {
            let more: [UInt8]
            do throws(FileError) { more = try file.read(upTo: 64 << 10) } catch { throw failure(path, error.reason) }
            if more.isEmpty { return text }
            text += more
            // Refused here and not when it is parsed, because a pipe may never end.
            guard text.count <= BundleSource.longest else {
                throw failure(path, "there are more than \(ByteCount(BundleSource.longest).words) to be read")
            }
        }
    }

    private static func failure(_ path: String, _ message: String) -> BundleFailure {
        BundleFailure([BundleProblem(file: path, message)])
    }
}
