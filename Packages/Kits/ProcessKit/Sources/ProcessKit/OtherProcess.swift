import CProcessKit
import Glibc
public import LoopKit

/// A process that somebody else started, held so that its number cannot come to mean another one.
public final class OtherProcess: Sendable {
    /// When it began, in the kernel's own count since the machine started; with the number it names one process for good.
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
        // Read while the number is held. A process that has ended meanwhile has none any more.
        guard let start = Self.start(of: process) else {
            pidfd.close()
            return nil
        }
        self.start = start
    }

    deinit { pidfd.close() }

    /// When a process began; nil when there is none.
    public static func start(of process: Int32) -> UInt64? {
        status(of: process).flatMap { UInt64($0[19]) }
    }

    /// Whether it has ended and was not waited for.
    static func isZombie(_ process: Int32) -> Bool {
        status(of: process).map { ["Z", "X"].contains($0[0]) } ?? false
    }

    /// What `/proc` says of a process, from its state on: the name before that is in parentheses and may hold anything.
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

    /// Sends a signal; false when it has ended already.
    public func send(_ signal: Signal) throws(ProcessError) -> Bool {
        let result = pidfd.withDescriptor { (descriptor, _) in processkit_pidfd_signal(descriptor, signal.rawValue) }
        guard let result, result != -ESRCH else { return false }
        guard result == 0 else { throw .system("send a signal to a process", errno: -result) }
        return true
    }

    /// Waits until it has ended; false when that was not so by the deadline.
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
            // Still running: there is something to wait for.
            if !isOver { ready.remove(.readable) }
            return isOver
        } ?? true
    }
}

/// A process that no other one can be taken for: not after its number was given again, nor after the machine was started
/// anew. It can be stored, and asked later whether that process still runs.
public struct ProcessIdentity: Sendable, Hashable {
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

    /// As it was stored.
    public init?(_ text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 3, let process = Int32(fields[1]), let start = UInt64(fields[2]) else { return nil }
        self.init(process: process, boot: String(fields[0]), start: start)
    }

    public var text: String { "\(boot)/\(process)/\(start)" }

    /// Whether that process still runs. One that has ended and was not waited for does nothing any more.
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
