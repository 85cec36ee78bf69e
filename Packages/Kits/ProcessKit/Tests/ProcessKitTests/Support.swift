import Glibc
import ProcessKit
import Testing

let path = ["PATH": "/usr/local/bin:/usr/bin:/bin"]

/// A shell script as a command.
func script(_ text: String, _ arguments: [String] = []) -> Command {
    Command("sh", ["-c", text, "sh"] + arguments, environment: CommandEnvironment(path))
}

func text(_ bytes: [UInt8]?) -> String? {
    bytes.map { String(decoding: $0, as: UTF8.self) }
}

/// Whether a process has ended: its id is unused or belongs to a zombie.
func hasEnded(_ process: Int32) -> Bool {
    guard let file = unsafe fopen("/proc/\(process)/stat", "r") else { return true }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    guard unsafe fgets(&line, 512, file) != nil else { return true }
    let fields = String(decoding: line.map(UInt8.init(bitPattern:)), as: UTF8.self).split(separator: " ")
    return fields[2] == "Z" || fields[2] == "X"
}

/// Waits until a process has ended, which takes a moment after a kill; false if it does not end.
func ends(_ process: Int32) -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while !hasEnded(process) {
        guard ContinuousClock.now < deadline else { return false }
        sched_yield()
    }
    return true
}

func makeFile(_ path: String, _ content: String, mode: mode_t) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode)
    try #require(descriptor >= 0)
    #expect(unsafe write(descriptor, content, content.utf8.count) == content.utf8.count)
    close(descriptor)
}

/// The number of open descriptors, without the timers that the runtime opens at any time.
func descriptorCount() -> Int {
    (0..<1024).count { number in
        var target = [CChar](repeating: 0, count: 256)
        let length = unsafe readlink("/proc/self/fd/\(number)", &target, 256)
        let name = String(decoding: target.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return length >= 0 && !name.hasPrefix("anon_inode:[timerfd]")
    }
}
