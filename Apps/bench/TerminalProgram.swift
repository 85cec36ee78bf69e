import FileKit
import Glibc

/// A program on a terminal of its own. The other end of the terminal is here: it answers queries as a modern terminal
/// does, types, and notes when which output comes. Everything happens on the calling thread, without a task, so that
/// little else is measured.
final class TerminalProgram {
    let process: pid_t
    /// When it was about to be started, and when its first byte was here.
    let start: ContinuousClock.Instant
    private(set) var firstByte: ContinuousClock.Instant?
    /// When its last byte so far was here.
    private(set) var lastByte: ContinuousClock.Instant
    /// How much it has written, without what the bench has dropped by `forget`.
    private(set) var byteCount = 0
    /// How many synchronised frames it has begun.
    private(set) var frameCount = 0

    private let descriptor: Int32
    private var recent: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)
    private var isClosed = false
    private var usage: rusage?

    private static let terminalVariables = [
        "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "LESS": "", "LESSHISTFILE": "-",
    ]
    /// What else a program may need to know.
    private static let otherVariables = ["PATH", "HOME"]
    /// What a modern terminal answers to DA1, and to the question for synchronised frames.
    private static let answers: [(query: [UInt8], reply: [UInt8])] = [
        ("\u{1B}[c", "\u{1B}[?62;22c"), ("\u{1B}[?2026$p", "\u{1B}[?2026;2$y"),
    ].map { (Array($0.0.utf8), Array($0.1.utf8)) }
    private static let frameStart = Array("\u{1B}[?2026h".utf8)

    /// Starts a program on a new terminal.
    init(
        _ path: String, _ arguments: [String], variables: [String: String] = [:], columns: UInt16 = 80,
        rows: UInt16 = 24
    ) throws {
        let descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var number: UInt32 = 0
        var lock: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
        guard unsafe ioctl(descriptor, 0x4004_5431, &lock) == 0, unsafe ioctl(descriptor, 0x8004_5430, &number) == 0,
            unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0
        else { throw BenchmarkError("no pseudo-terminal: \(errno)") }
        let own = Environment.snapshot().filter { Self.otherVariables.contains($0.key) }
        let environment = own.merging(Self.terminalVariables) { $1 }.merging(variables) { $1 }
        self.descriptor = descriptor
        start = ContinuousClock.now
        lastByte = start
        process = try Child.start(path, arguments, environment: environment, onTerminal: "/dev/pts/\(number)")
    }

    deinit {
        end()
        close(descriptor)
    }

    /// Ends the program, if it has not ended, and returns its exit status.
    @discardableResult
    func end() -> rusage {
        if let usage { return usage }
        kill(process, SIGTERM)
        let limit = ContinuousClock.now + .seconds(3)
        while !isClosed, ContinuousClock.now < limit { receive(within: 0.05) }
        if !isClosed { kill(process, SIGKILL) }
        let ended = Child.wait(for: process).usage
        usage = ended
        return ended
    }

    // MARK: Output

    /// Waits until a text is in the output since the last `forget`, and returns when it was here.
    @discardableResult
    func wait(for text: String, limit: Duration = .seconds(20)) throws -> ContinuousClock.Instant {
        let needle = Array(text.utf8)
        let end = ContinuousClock.now + limit
        var searched = 0
        while true {
            if let place = recent.firstPlace(of: needle, from: searched) {
                // What came with it in one read belongs to the past too.
                recent.removeFirst(place + needle.count)
                return lastByte
            }
            searched = max(0, recent.count - needle.count + 1)
            if recent.count > 1 << 18 {
                recent.removeFirst(searched)
                searched = 0
            }
            guard !isClosed, ContinuousClock.now < end else {
                let shown = String(decoding: recent.suffix(2_000), as: UTF8.self)
                throw BenchmarkError("\(text) was not shown: \(shown.debugDescription)")
            }
            receive(within: 0.5)
        }
    }

    /// Takes output until there is none for so long.
    func settle(_ silence: Duration, limit: Duration = .seconds(20)) {
        let begun = ContinuousClock.now
        while !isClosed {
            let now = ContinuousClock.now
            let quiet = now - max(lastByte, begun)
            if quiet >= silence || now - begun >= limit { return }
            receive(within: (silence - quiet) / .seconds(1))
        }
    }

    /// Takes output for so long.
    func receive(for duration: Duration) {
        let end = ContinuousClock.now + duration
        while case let left = end - .now, left > .zero, !isClosed { receive(within: left / .seconds(1)) }
        if isClosed { usleep(UInt32(max(0, (end - .now) / .microseconds(1)))) }
    }

    /// Takes output until the program ends.
    func receiveAll(limit: Duration = .seconds(60)) {
        let end = ContinuousClock.now + limit
        while !isClosed, ContinuousClock.now < end { receive(within: 0.5) }
    }

    /// Counts and searches only what comes from now on.
    func forget() {
        recent = []
        (byteCount, frameCount) = (0, 0)
    }

    private func receive(within seconds: Double) {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&ready, 1, Int32((seconds * 1000).rounded(.up))) == 1 else { return }
        let count = unsafe read(descriptor, &chunk, chunk.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            // EIO: nobody has the terminal any more.
            isClosed = true
            return
        }
        lastByte = .now
        if firstByte == nil { firstByte = lastByte }
        byteCount += count
        recent += chunk.prefix(count)
        for (query, reply) in Self.answers where recent.places(of: query, endingIn: count) > 0 {
            send(reply)
        }
        frameCount += recent.places(of: Self.frameStart, endingIn: count)
    }

    // MARK: Input

    /// Types a text, and returns when.
    @discardableResult
    func type(_ text: String) -> ContinuousClock.Instant {
        let now = ContinuousClock.now
        send(Array(text.utf8))
        return now
    }

    private func send(_ bytes: [UInt8]) { _ = unsafe write(descriptor, bytes, bytes.count) }
}

// MARK: What the kernel counts

extension TerminalProgram {
    /// The processor time of the program so far, in user and system mode.
    var processorTime: Duration {
        get throws {
            var clock: clockid_t = 0
            var time = timespec()
            guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
                throw BenchmarkError("the program has ended")
            }
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    }

    /// How often each of its threads, and of those of its children, has gone to sleep by itself.
    var voluntarySwitches: [String: Int] {
        get throws {
            var switches: [String: Int] = [:]
            for path in try ([process] + children).flatMap({ try threads(of: $0) }) {
                switches[path] = try number("voluntary_ctxt_switches:", in: "\(path)/status")
            }
            return switches
        }
    }

    /// Its resident memory in bytes.
    var memory: Int { get throws { try number("VmRSS:", in: "/proc/\(process)/status") << 10 } }

    private var children: [pid_t] {
        get throws {
            try threads(of: process).flatMap { path in
                String(decoding: try Files.read("\(path)/children", limit: 1 << 16), as: UTF8.self)
                    .split(separator: " ").compactMap { pid_t($0) }
            }
        }
    }

    private func threads(of process: pid_t) throws -> [String] {
        let folder = "/proc/\(process)/task"
        guard let list = unsafe opendir(folder) else { throw BenchmarkError("the program has ended") }
        defer { unsafe closedir(list) }
        var paths: [String] = []
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { paths.append("\(folder)/\(name)") }
        }
        return paths
    }

    private func number(_ name: String, in path: String) throws -> Int {
        let text = String(decoding: try Files.read(path, limit: 1 << 16), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        let words = line?.split(whereSeparator: \.isWhitespace) ?? []
        guard words.count > 1, let number = Int(words[1]) else { throw BenchmarkError("\(path) has no \(name)") }
        return number
    }
}

extension [UInt8] {
    /// Where bytes begin in these, from a place on.
    fileprivate func firstPlace(of needle: [UInt8], from start: Int) -> Int? {
        guard let first = needle.first, count >= needle.count else { return nil }
        var place = Swift.max(0, start)
        while place <= count - needle.count {
            if self[place] == first, self[place..<place + needle.count].elementsEqual(needle) { return place }
            place += 1
        }
        return nil
    }

    /// How often bytes end among the last `count`.
    fileprivate func places(of needle: [UInt8], endingIn count: Int) -> Int {
        var found = 0
        var start = self.count - count - needle.count + 1
        while let place = firstPlace(of: needle, from: start) {
            found += 1
            start = place + needle.count
        }
        return found
    }
}
