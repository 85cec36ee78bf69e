import FileKit

/// What one file with settings of git names that has git run programs, or that belongs to a repository.
struct GitSettings: Equatable {
    /// The folder with the hooks.
    var hooks: String?
    /// Files with more settings.
    var included: [String] = []
    /// The folder that is the checkout, which a submodule names.
    var worktree: String?
}

extension GitSettings {
    /// Nothing of a file that is not there.
    static func read(_ file: String) throws(SandboxError) -> GitSettings {
        let content = try SandboxError.unlessAbsent { () throws(FileError) in try Files.read(file, limit: 1 << 20) }
        guard let content else { return GitSettings() }
        guard let settings = GitSettings(content) else { throw SandboxError.settings(file) }
        return settings
    }

    /// Nil where a value is written in a way that only git understands, with marks in the middle or over several lines.
    init?(_ bytes: [UInt8]) {
        self.init()
        var section = ""
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            var rest = line.drop(while: \.isWhitespace)
            if rest.first == "[" {
                section = rest.dropFirst().prefix { $0 != "]" }.lowercased()
                rest = rest.drop { $0 != "]" }.dropFirst().drop(while: \.isWhitespace)
            }
            guard let equals = rest.firstIndex(of: "=") else { continue }
            let key = rest[..<equals].filter { !$0.isWhitespace }.lowercased()
            let isIncluded = section.hasPrefix("include") && key == "path"
            guard isIncluded || section == "core" && ["hookspath", "worktree"].contains(key) else { continue }
            guard let value = Self.value(rest[equals...].dropFirst().drop(while: \.isWhitespace)) else { return nil }
            if isIncluded {
                included.append(value)
            } else if key == "worktree" {
                worktree = value
            } else {
                hooks = value.isEmpty ? nil : value
            }
        }
    }

    /// Nil where it is not one plain or one quoted text.
    private static func value(_ text: Substring) -> String? {
        guard text.first == "\"" else {
            var word = text.prefix { $0 != "#" && $0 != ";" }
            while word.last?.isWhitespace == true { word.removeLast() }
            return word.contains("\"") || word.contains("\\") ? nil : String(word)
        }
        let parts = text.dropFirst().split(separator: "\"", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].contains("\\") else { return nil }
        let rest = parts[1].drop(while: \.isWhitespace)
        return rest.isEmpty || rest.first == "#" || rest.first == ";" ? String(parts[0]) : nil
    }
}
