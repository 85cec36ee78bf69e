public import Glibc

/// What the system says about other processes.
public enum OtherProcess {
    /// The state and the parent of a process; nil if there is none.
    public static func status(of process: pid_t) -> (state: Character, parent: pid_t, name: String)? {
        guard let text = text(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: ")"),
            let start = text.firstIndex(of: "(")
        else { return nil }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 2, let state = fields[1].first, let parent = pid_t(fields[2]) else { return nil }
        return (state, parent, String(text[text.index(after: start)..<end]))
    }

    /// The memory that a process has for itself alone, in several parts.
    public static func privateKilobytes(of process: pid_t) -> [Int] {
        (text(of: "/proc/\(process)/smaps_rollup") ?? "").split(separator: "\n").filter { $0.hasPrefix("Private_") }
            .compactMap { line in Int(line.split(separator: " ").dropLast().last ?? "") }
    }

    /// The beginning of a file, such as one in `/proc`; nil if it cannot be opened.
    public static func text(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// The names in a folder.
    public static func names(in folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            names.append(
                unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    /// The processes for which a condition holds, also those that ended and were not waited for.
    public static func all(_ condition: ((state: Character, parent: pid_t, name: String)) -> Bool) -> [pid_t] {
        names(in: "/proc").compactMap { pid_t($0) }.filter { process in status(of: process).map(condition) ?? false }
    }

    /// A child of a process that still runs.
    public static func child(of process: pid_t) throws -> pid_t {
        guard let child = all({ $0.parent == process && $0.state != "Z" }).first else {
            throw TestTerminalError(message: "\(process) has no child")
        }
        return child
    }

    /// Waits until a process has ended, whether it was already waited for or not.
    public static func waitForEnd(of process: pid_t) throws {
        for _ in 0..<20_000 {
            guard let status = status(of: process), status.state != "Z" else { return }
            poll(nil, 0, 1)
        }
        throw TestTerminalError(message: "process \(process) did not end")
    }
}
