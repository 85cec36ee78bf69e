import Glibc

/// A directory for one test, removed with its contents when the body ends.
public enum TemporaryDirectory {
    /// Why there is no directory, or why something of it is left.
    public struct Problem: Error, CustomStringConvertible {
        public let description: String

        init(_ doing: String, _ path: String) {
            description = "cannot \(doing) \(path): \(unsafe String(cString: strerror(errno)))"
        }
    }

    /// Lends the path of a new directory.
    ///
    /// - Parameter place: the directory above it, `TMPDIR` or `/tmp` if nil.
    @discardableResult
    public static func run<Result>(
        in place: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let path = try make(in: place)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(path)) } catch { result = .failure(error) }
        try remove(path)
        return try result.get()
    }

    /// The same for tests that do not wait.
    @discardableResult
    public static func runNow<Result>(in place: String? = nil, _ body: (String) throws -> Result) throws -> Result {
        let path = try make(in: place)
        let result = Swift.Result { try body(path) }
        try remove(path)
        return try result.get()
    }

    private static func make(in place: String?) throws -> String {
        let variable = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) }
        let place = place ?? variable ?? "/tmp"
        var template = Array("\(place)/martlet-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Problem("make a directory in", place) }
        let made = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Programs report the path without symbolic links.
        guard let real = unsafe realpath(made, nil) else { throw Problem("find", made) }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// Removes a directory and everything in it, and follows no links.
    private static func remove(_ path: String) throws {
        guard let stream = unsafe opendir(path) else { throw Problem("open", path) }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            let child = "\(path)/\(name)"
            if unsafe Int(entry.pointee.d_type) == Int(DT_DIR) {
                try remove(child)
            } else if unsafe unlink(child) != 0 {
                throw Problem("remove", child)
            }
        }
        guard unsafe rmdir(path) == 0 else { throw Problem("remove", path) }
    }
}
