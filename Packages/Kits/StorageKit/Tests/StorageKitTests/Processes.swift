import FileKit
import Glibc
import LoopKit
import Testing

/// Kills this process after a while, whatever it is doing then.
func killMyself(after microseconds: UInt32) throws {
    _ = try OwnThread {
        usleep(microseconds)
        kill(getpid(), SIGKILL)
    }
}

/// Lines that a process wrote before it was killed: each is complete or missing.
struct Journal {
    let path: String

    func note(_ line: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array("\(line)\n".utf8)
        try #require(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
    }

    var lines: [String] {
        get throws {
            guard Files.exists(path) else { return [] }
            let text = String(decoding: try Files.read(path, limit: 1 << 26), as: UTF8.self)
            return text.split(separator: "\n").map(String.init)
        }
    }
}
