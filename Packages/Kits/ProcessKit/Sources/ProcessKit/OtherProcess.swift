import CProcessKit
import Glibc
public import LoopKit

/// A process that is not a child of this one. It is held by a pidfd, so a reused number cannot be mistaken for it.
public final class OtherProcess: Sendable {
    /// The start time in clock ticks since boot. With the number it identifies one process until the next boot.
    public let start: UInt64
    private let pidfd: LoopDescriptor

    /// Nil when there is no such process.
    public init?(_ process: Int32, loop: EventLoop) throws(ProcessError) {
        let descriptor = processkit_pidfd_open(process)
        guard descriptor != -ESRCH, descriptor != -EINVAL else { return nil }
        guard descriptor >= 0 else { throw .system("watch process \(process)", errno: -descriptor) }
        do throws(LoopError) {
            pidfd = try LoopDescriptor(owning: descriptor, loop: loop)
        } catch {
            throw .watching(error)
        }
        // Read after the pidfd was opened. A process that has ended meanwhile has no start time.
        guard let start = Self.start(of: process) else {
            pidfd.close()
            return nil
        }
        self.start = start
    }

    deinit { pidfd.close() }

    /// The start time of a process, or nil when there is no such process.
    public static func start(of process: Int32) -> UInt64? {
        status(of: process).flatMap { UInt64($0[19]) }
    }

    /// Whether the process has ended but was not reaped.
    static func isZombie(_ process: Int32) -> Bool {
        status(of: process).map { ["Z", "X"].contains($0[0]) } ?? false
    }

    /// The fields of `/proc/PID/stat` from the state on. The name before it is in parentheses and may contain anything.
    private static func status(of process: Int32) -> [Substring]? {
        let file = unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(file, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 19 ? fields : nil
    }

    /// Sends a signal. False when the process has already ended.
    public func send(_ signal: Signal) throws(ProcessError) -> Bool {
        let result = pidfd.withDescriptor { (descriptor, _) in processkit_pidfd_signal(descriptor, signal.rawValue) }
        guard let result, result != -ESRCH else { return false }
        guard result == 0 else { throw .system("send a signal to a process", errno: -result) }
        return true
    }

    /// Waits until the process has ended. False when it has not ended by the deadline.
    public func ended(by deadline: ContinuousClock.Instant) async throws -> Bool {
        while !hasEnded {
            guard try await pidfd.readable(until: deadline) == .ready else { return hasEnded }
        }
        return true
    }

    private var hasEnded: Bool {
        pidfd.withDescriptor { (descriptor, ready) in
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let isOver = unsafe poll(&entry, 1, 0) > 0
            // Still running, so the next call has to wait.
            if !isOver { ready.remove(.readable) }
            return isOver
        } ?? true
    }
}

/// Identifies one process, even after its number is reused or the machine restarts. It can be stored, to check later
/// whether that process still runs.
public struct ProcessIdentity: Sendable, Hashable {
    /// The number of the process, which the system may reuse after its end.
    public let process: Int32
    private let boot: String
    private let start: UInt64

    /// This process.
    public static var own: ProcessIdentity {
        let process = getpid()
        return ProcessIdentity(process: process, boot: currentBoot, start: OtherProcess.start(of: process) ?? 0)
    }

    private init(process: Int32, boot: String, start: UInt64) {
        self.process = process
        self.boot = boot
        self.start = start
    }

    /// Parses a stored `text`.
    public init?(_ text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 3, let process = Int32(fields[1]), let start = UInt64(fields[2]) else { return nil }
        self.init(process: process, boot: String(fields[0]), start: start)
    }

    /// The text to store, which the initialiser parses.
    public var text: String { "\(boot)/\(process)/\(start)" }

    /// Whether that process still runs. A zombie does not count as running.
    public var isAlive: Bool {
        boot == Self.currentBoot && OtherProcess.start(of: process) == start && !OtherProcess.isZombie(process)
    }

    private static var currentBoot: String {
        let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
