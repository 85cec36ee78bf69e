import CFileKit
import Glibc

/// The variables that this process was started with.
public enum Environment {
    /// A copy of all variables. If a name occurs twice, the first counts, as in `getenv`.
    ///
    /// Take it once at the start: reading while another thread calls `setenv` is not safe in C.
    public static func snapshot() -> [String: String] {
        var variables: [String: String] = [:]
        guard var entry = unsafe filekit_environ() else { return variables }
        while let text = unsafe entry.pointee {
            let line = unsafe String(cString: text)
            if let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) {
                let name = String(line[..<equals])
                if variables[name] == nil { variables[name] = String(line[line.utf8.index(after: equals)...]) }
            }
            unsafe entry += 1
        }
        return variables
    }

    /// Copies all variables, then overwrites the values of the secret ones where the system keeps them: children inherit
    /// only empty values, and `/proc/PID/environ` does not show them to other processes.
    ///
    /// Take it once at the start, before there is another thread.
    public static func take(hiding isSecret: (String) -> Bool) -> [String: String] {
        let variables = snapshot()
        guard var entry = unsafe filekit_environ() else { return variables }
        while let text = unsafe entry.pointee {
            if let equals = unsafe strchr(text, Int32(UInt8(ascii: "="))) {
                let name = unsafe String(cString: text).prefix { $0 != "=" }
                let value = unsafe equals + 1
                if isSecret(String(name)) { unsafe explicit_bzero(value, strlen(value)) }
            }
            unsafe entry += 1
        }
        return variables
    }
}
