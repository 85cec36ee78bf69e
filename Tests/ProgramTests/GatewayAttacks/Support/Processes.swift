import FileKit

/// What runs on this machine, as /proc tells it.
enum Processes {
    /// The processes whose command line has that in it.
    static func with(_ mark: String) throws -> [Int] {
        try Files.list("/proc").compactMap { entry in
            guard let id = Int(entry.name) else { return nil }
            return text("/proc/\(id)/cmdline").contains(mark) ? id : nil
        }
    }

    /// The processes that one has started and that are still there.
    static func children(of parent: Int32) throws -> [Int] {
        try Files.list("/proc").compactMap { entry in
            guard let id = Int(entry.name) else { return nil }
            // Behind the name, which is in parentheses, come the state and the parent.
            let words = text("/proc/\(id)/stat").split(separator: ")").last?.split(separator: " ") ?? []
            return words.count > 1 && words[1] == "\(parent)" ? id : nil
        }
    }

    /// How many descriptors a process has open.
    static func descriptors(of process: Int32) throws -> Int { try Files.list("/proc/\(process)/fd").count }

    /// How much memory of a process is resident, in bytes.
    static func residentBytes(of process: Int32) -> Int {
        let line = text("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Empty for a process that has just gone.
    private static func text(_ path: String) -> String {
        do { return String(decoding: try Files.read(path, limit: 1 << 16), as: UTF8.self) } catch { return "" }
    }
}
