/// The shared libraries that an executable names itself, to be loaded with it or opened by it; not those that these need
/// in turn.
public struct Linkage: Sendable {
    /// The file names, such as `libz.so.1`.
    public let needed: Set<String>
    /// The file names of those that the program opens when it first uses them.
    public let opened: Set<String>

    /// Reads the NEEDED entries of an executable, and its notes on what it opens.
    public init(of program: String) async throws {
        let shell = Shell(in: "/")
        let entries = try await shell.run("readelf", "--dynamic", "--wide", program)
        needed = Set(entries.matches(of: /\(NEEDED\).*\[([^\]]+)\]/).map { String($0.output.1) })
        guard !needed.isEmpty else { throw WorkspaceError("\(program) needs no library at all, which cannot be") }
        // A program without the section has nothing printed, and a warning.
        let notes = try await shell.run("readelf", "--wide", "--string-dump=.note.dlopen", program)
        opened = Set(notes.matches(of: /"soname":\["([^"]+)"/).map { String($0.output.1) })
    }

    private var all: Set<String> { needed.union(opened) }

    /// Whether the library that `-l` calls by this name is needed or opened.
    public func contains(_ library: String) -> Bool {
        all.contains { Self.is($0, library) }
    }

    /// What belongs neither to the C library, nor to Swift, nor to the named libraries.
    public func foreign(besides libraries: Set<String>) -> Set<String> {
        all.filter { name in
            !libraries.contains { Self.is(name, $0) } && !Self.isSystem(name)
        }
    }

    private static func isSystem(_ name: String) -> Bool {
        if name.hasPrefix("libswift") || name.hasPrefix("ld-linux") { return true }
        return ["c", "m", "pthread", "dl", "rt", "gcc_s", "stdc++", "dispatch", "BlocksRuntime"]
            .contains { Self.is(name, $0) }
    }

    /// Whether a file is the library that `-l` calls by that name. Some have a version before the suffix, as in
    /// `libyaml-0.so.2`.
    private static func `is`(_ file: String, _ library: String) -> Bool {
        guard file.hasPrefix("lib\(library)") else { return false }
        return file.dropFirst("lib\(library)".count).prefixMatch(of: /(-[0-9.]+)?\.so/) != nil
    }
}
