import Capabilities
import FileKit
import Registry
import Settings

/// What `doctor` looks at whatever features there are.
enum HostChecks {
    static var all: [HealthCheck] {
        [settings, variables, project, composition, libraries] + folders
    }

    private static let settings = HealthCheck("host.settings", "the settings") { host in
        let problems = host.settings.problems
        guard problems.isEmpty else {
            return .failure(
                problems.map(\.description).joined(separator: "; "),
                mend: "martlet config edit, or mend the file by hand")
        }
        let files = ([host.locations.userFile] + [host.locations.project].compactMap { $0 }).filter(Files.exists)
        return .ok(files.isEmpty ? "no settings file; defaults are used" : files.joined(separator: ", "))
    }

    private static let variables = HealthCheck("host.variables", "environment variables") { host in
        let unknown = host.settings.unknownVariables
        guard !unknown.isEmpty else { return .ok("none that is unknown") }
        return .warning(
            "no setting is called \(unknown.joined(separator: ", "))", mend: "unset it, or see martlet config show")
    }

    private static let project = HealthCheck("host.project", "the project's settings") { host in
        let inert = host.settings.inert
        guard let file = host.locations.project else { return .ok("not in a project with settings") }
        guard !inert.isEmpty else { return .ok("\(file) is in use") }
        let keys = inert.map { $0.key.joined(separator: ".") }.joined(separator: ", ")
        return .warning(
            "\(file) is not trusted, so this is not used: \(keys)", mend: "read it, then martlet config trust")
    }

    private static let composition = HealthCheck("host.features", "how the features fit together") { host in
        let problems = host.composition.problems
        guard problems.isEmpty else {
            return .failure(problems.map(\.description).joined(separator: "; "), mend: "martlet features shows each")
        }
        return .ok("\(host.composition.features.count) on, \(host.composition.off.count) off")
    }

    private static let libraries = HealthCheck("host.libraries", "the libraries") { host in
        let names = host.composition.registry.libraries.map { "\($0.name) \($0.version())" }
        return .ok(names.isEmpty ? "none beyond the system's" : names.joined(separator: ", "))
    }

    private static let folders: [HealthCheck] = [
        folder("config") { $0.config }, folder("data") { $0.data }, folder("state") { $0.state },
        folder("cache") { $0.cache },
    ]

    private static func folder(
        _ name: String, _ path: @escaping @Sendable (Locations) -> String
    ) -> HealthCheck {
        HealthCheck("host.folder.\(name)", "the folder for \(name)") { host in
            let path = path(host.locations)
            guard !path.isEmpty else { return .failure("there is none", mend: "set HOME") }
            do {
                guard Files.exists(path) else { return try parentIsWritable(path) }
                let info = try Files.info(path)
                guard info.kind == .directory else {
                    return .failure(
                        "\(path) is no folder", mend: "move it away, or set another place with MARTLET_HOME")
                }
                guard Files.isWritable(path) else {
                    return .failure("\(path) cannot be written", mend: "give yourself the right to write there")
                }
                return .ok(path)
            } catch {
                return .failure(AnyFailure(error).message, mend: "mend its permissions, or set MARTLET_HOME")
            }
        }
    }

    /// A folder that is not there yet is made at first use, which the nearest one above must allow.
    private static func parentIsWritable(_ path: String) throws -> HealthCheck.Finding {
        var parent = path
        repeat {
            parent = parent.lastIndex(of: "/").map { String(parent[..<$0]) } ?? ""
        } while !parent.isEmpty && !Files.exists(parent)
        guard Files.isWritable(parent.isEmpty ? "/" : parent) else {
            return .warning("\(path) cannot be made", mend: "make \(parent) writable, or set MARTLET_HOME")
        }
        return .ok("\(path) (made when it is needed)")
    }
}
